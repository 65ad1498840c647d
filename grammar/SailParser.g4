// Sentences of the Sail language, edition 1. Every decision needs one token, so parsing is linear in the text and the
// parser always knows what it expected; README.md says what that rests on. What one token cannot decide (an import
// inside a block, two statements on one line, a keyword as block kind) is checked on the tree (ast_builder.cc).
parser grammar SailParser;

options { tokenVocab = SailLexer; }

// ---------- structure ----------
file       : edition? statement* EOF ;
edition    : SAIL INT ;
statement  : importDecl | letDecl | link | objective | named ;
importDecl : IMPORT STRING AS name ;
letDecl    : LET name (':' typeName)? '=' expr ;
typeName   : name ('/' name)* ;                       // iters/s
named      : path ('=' expr | (name | STRING)? body) ;  // an assignment or a block; left-factored
body       : '{' (statement ','?)* '}' ;

link       : LINK linkEnd ('<->' | '->') linkEnd ((WITHIN | ACROSS) name)? body ;
linkEnd    : '*' | path ;

objective   : term (THEN term)* (SUBJECT TO constraints)? ;
term        : (MINIMIZE | MAXIMIZE) expr ;
constraints : '{' (constraint ','?)* '}' ;
constraint  : expr (':' expr)? ;                       // the first must be a plain name when there are two

// ---------- expressions, from loose to tight ----------
expr       : orExpr ;
orExpr     : andExpr (OR andExpr)* ;
andExpr    : notExpr (AND notExpr)* ;
notExpr    : NOT* comparison ;
comparison : range (('==' | '!=' | '<' | '<=' | '>' | '>=') range)? ;  // does not chain
range      : sum ('..' sum)? ;
sum        : product (('+' | '-') product)* ;
product    : unary (('*' | '/') unary)* ;
unary      : NEGATE* member ;
member     : primary ('.' (name | STRING))* ;
primary    : STRING | TRUE | FALSE | NONE | quantity | name | list | '(' expr ')' ;
list       : '[' (expr (',' expr?)*)? ']' ;               // only the last comma may stand alone
quantity   : '$' number (PER UNIT)*                    // $3.67/h
           | number (UNIT (PER UNIT)* | '%')? ;
number     : INT | FLOAT ;

// The words that begin a part of a statement cannot begin a path, so that one token decides.
path : (word | STRING) ('.' (name | STRING))* ;
name : word | LINK | MINIMIZE | MAXIMIZE | SUBJECT ;
word : IDENT | AS | WITHIN | ACROSS | TO | SHA256 | WHERE | MOVED | WARN | TRACE | AT | TEST | SET | PLAN | REPLAY | ON
     | EXPECT | INFEASIBLE | BECAUSE | ERROR | SNAPSHOT ;
