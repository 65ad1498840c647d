// Sentences of the Sail language, edition 1. Every decision needs one token, so parsing is linear in the text and the
// parser always knows what it expected; README.md says what that rests on. What one token cannot decide (an import
// inside a block, two statements on one line, a keyword as block kind) is checked on the tree (ast_builder.cc).
parser grammar SailParser;

options { tokenVocab = SailLexer; }

// ---------- structure ----------
file       : edition? statement* EOF ;
edition    : SAIL INT ;
statement  : importDecl | paramDecl | letDecl | assertion | forBlock | removal | overriding | link | objective | named ;
importDecl : IMPORT STRING (SHA256 STRING)? AS name ;
paramDecl  : PARAM name ':' typeRef ('=' expr)? (WHERE expr)? ;
letDecl    : LET name (':' typeRef)? '=' expr ;
typeRef    : name ('<' typeRef (',' typeRef)* '>' | ('/' name)+)? '?'? ;  // List<String>, iters/s, Duration?
assertion  : (ASSERT | WARN) expr (MESSAGE (STRING | TEXT))? ;
forBlock   : generator body ;
generator  : FOR name (',' name)? IN expr (IF expr)? ;
removal    : REMOVE name LABEL? ;
overriding : OVERRIDE path '=' expr ;
named      : path ('=' expr | header body) ;          // an assignment or a block; left-factored
header     : (label | STRING)? (AS name)? (EXTENDS reference)? ;
body       : '{' (statement ','?)* '}' ;

link       : LINK linkEnd ('<->' | '->') linkEnd ((WITHIN | ACROSS) name)? body ;
linkEnd    : '*' | reference ;

objective   : term (THEN term)* (SUBJECT TO constraints)? ;
term        : (MINIMIZE | MAXIMIZE) expr ;
constraints : '{' (constraint ','?)* '}' ;
constraint  : expr (':' expr)? ;                       // the first must be a plain name when there are two

// ---------- expressions, from loose to tight ----------
embedded   : '{' expr '}' ;                            // the `{a}` of "x${a}"
expr       : (IF orExpr THEN orExpr ELSE)* orExpr ;    // a conditional inside another needs parentheses
orExpr     : andExpr (OR andExpr)* ;
andExpr    : notExpr (AND notExpr)* ;
notExpr    : NOT* comparison ;
comparison : range (('==' | '!=' | '<' | '<=' | '>' | '>=' | IN) range)? ;  // does not chain
range      : sum ('..' sum)? ;
sum        : product (('+' | '-') product)* ;
product    : unary (('*' | '/') unary)* ;
unary      : NEGATE* postfix ;
postfix    : primary (member | index | call)* ;
member     : '.' (name | STRING) ;
index      : INDEX expr ']' ;
call       : CALL (argument (',' argument?)*)? ')' ;   // only the last comma may stand alone
argument   : expr ('=' expr)? ;                        // the first must be a plain name when there are two
primary    : STRING | TEXT | DATE | TRUE | FALSE | NONE | quantity | name | list | record | '(' expr ')' ;
list       : '[' (expr (generator | (',' expr?)*))? ']' ;  // only the last comma may stand alone
record     : '{' (field ','?)* '}' ;
field      : (name | STRING) '=' expr ;
quantity   : '$' number (PER UNIT)*                    // $3.67/h
           | number (UNIT (PER UNIT)* | '%')? ;
number     : INT | FLOAT ;

// The words that begin a part of a statement cannot begin a path, so that one token decides.
path      : (word | STRING) ('.' (name | STRING))* ;
reference : (name | STRING) ('.' (name | STRING))* ;
name      : label | AS ;
label     : word | LINK | MINIMIZE | MAXIMIZE | SUBJECT | WHERE | WARN ;
word      : IDENT | WITHIN | ACROSS | TO | SHA256 | MOVED | TRACE | AT | TEST | SET | PLAN | REPLAY | ON | EXPECT
          | INFEASIBLE | BECAUSE | ERROR | SNAPSHOT ;
