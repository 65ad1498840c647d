// Words of the Sail language, edition 1. See README.md.
lexer grammar SailLexer;

// Not produced by a rule but by compiler/frontend/classify.cc, from what stands before:
//   UNIT    the word after a number on the same line; a rule that lists the units could not report an unknown one
//   PER     the `/` of `USD/h`, without blanks
//   NEGATE  a `-` with no operand before it
tokens { UNIT, PER, NEGATE }

// Reserved words. Those marked * are reserved for statements that are not supported yet.
SAIL: 'sail'; IMPORT: 'import'; LET: 'let';
AND: 'and'; OR: 'or'; NOT: 'not'; TRUE: 'true'; FALSE: 'false'; NONE: 'none'; THEN: 'then';
PARAM: 'param'; /* * */ EXTENDS: 'extends'; /* * */ OVERRIDE: 'override'; /* * */ REMOVE: 'remove'; /* * */
FOR: 'for'; /* * */ IN: 'in'; /* * */ IF: 'if'; /* * */ ELSE: 'else'; /* * */ ASSERT: 'assert'; /* * */
FN: 'fn'; /* * */

// Soft words: they have a meaning in their statement and are ordinary names elsewhere, but never a block kind.
AS: 'as'; LINK: 'link'; WITHIN: 'within'; ACROSS: 'across';
MINIMIZE: 'minimize'; MAXIMIZE: 'maximize'; SUBJECT: 'subject'; TO: 'to';
SHA256: 'sha256'; /* * */ WHERE: 'where'; /* * */ MOVED: 'moved'; /* * */ WARN: 'warn'; /* * */
TRACE: 'trace'; /* * */ AT: 'at'; /* * */ TEST: 'test'; /* * */ SET: 'set'; /* * */ PLAN: 'plan'; /* * */
REPLAY: 'replay'; /* * */ ON: 'on'; /* * */ EXPECT: 'expect'; /* * */ INFEASIBLE: 'infeasible'; /* * */
BECAUSE: 'because'; /* * */ ERROR: 'error'; /* * */ SNAPSHOT: 'snapshot'; /* * */

BOTH_WAYS: '<->'; ARROW: '->'; DOTDOT: '..';
EQ: '=='; NE: '!='; LE: '<='; GE: '>='; LT: '<'; GT: '>';
ASSIGN: '='; COLON: ':'; COMMA: ','; DOT: '.'; DOLLAR: '$'; PERCENT: '%'; QUESTION: '?';
PLUS: '+'; MINUS: '-'; STAR: '*'; SLASH: '/';
LPAREN: '('; RPAREN: ')'; LBRACKET: '['; RBRACKET: ']'; LBRACE: '{'; RBRACE: '}';

DATE         : D D D D '-' D D '-' D D ;  // reserved for dates
FLOAT        : DIGITS '.' DIGITS EXP? | DIGITS EXP ;
INT          : DIGITS ;
TEXT         : '"""' .*? '"""' ;          // reserved for text blocks
STRING       : '"' CHAR* '"' ;
UNTERMINATED : '"' CHAR* '\\'? ;          // shorter than STRING, so only chosen when the line ends first
IDENT        : [A-Za-z_] [A-Za-z0-9_]* ;

COMMENT : '#' ~[\r\n]* -> channel(HIDDEN) ;  // kept for the formatter; `##` documents the declaration below it
BLANK   : [ \t\r\n]+ -> skip ;
ILLEGAL : . ;

fragment CHAR   : '\\' ~[\r\n] | ~["\\\r\n] ;
fragment DIGITS : D (D | '_' D)* ;
fragment D      : [0-9] ;
fragment EXP    : [eE] [+-]? D+ ;
