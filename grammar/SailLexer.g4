// Words of the Sail language, edition 1. See README.md.
lexer grammar SailLexer;

// Not produced by a rule but by compiler/frontend/classify.cc, from what stands around them:
//   UNIT     the word after a number on the same line; a rule that lists the units could not report an unknown one
//   PER      the `/` of `USD/h`, without blanks
//   NEGATE   a `-` with no operand before it
//   CALL     the `(` of `f(x)`, on the line of `f`
//   INDEX    the `[` of `a[1]`, on the line of `a`
//   LABEL    the name or string of `remove pool a`, on the line of `remove`
//   MESSAGE  the comma before the text of `assert a, "text"`
tokens { UNIT, PER, NEGATE, CALL, INDEX, LABEL, MESSAGE }

// Reserved words. The one marked * is reserved for statements that are not supported yet.
SAIL: 'sail'; IMPORT: 'import'; LET: 'let'; PARAM: 'param'; ASSERT: 'assert';
OVERRIDE: 'override'; REMOVE: 'remove'; EXTENDS: 'extends';
AND: 'and'; OR: 'or'; NOT: 'not'; TRUE: 'true'; FALSE: 'false'; NONE: 'none';
IF: 'if'; THEN: 'then'; ELSE: 'else'; FOR: 'for'; IN: 'in';
FN: 'fn'; /* * */

// Soft words: they have a meaning in their statement and are ordinary names elsewhere, but never a block kind.
AS: 'as'; LINK: 'link'; WITHIN: 'within'; ACROSS: 'across';
MINIMIZE: 'minimize'; MAXIMIZE: 'maximize'; SUBJECT: 'subject'; TO: 'to';
SHA256: 'sha256'; WHERE: 'where'; WARN: 'warn'; MOVED: 'moved'; /* * */
TRACE: 'trace'; /* * */ AT: 'at'; /* * */ TEST: 'test'; /* * */ SET: 'set'; /* * */ PLAN: 'plan'; /* * */
REPLAY: 'replay'; /* * */ ON: 'on'; /* * */ EXPECT: 'expect'; /* * */ INFEASIBLE: 'infeasible'; /* * */
BECAUSE: 'because'; /* * */ ERROR: 'error'; /* * */ SNAPSHOT: 'snapshot'; /* * */

BOTH_WAYS: '<->'; ARROW: '->'; DOTDOT: '..';
EQ: '=='; NE: '!='; LE: '<='; GE: '>='; LT: '<'; GT: '>';
ASSIGN: '='; COLON: ':'; COMMA: ','; DOT: '.'; DOLLAR: '$'; PERCENT: '%'; QUESTION: '?';
PLUS: '+'; MINUS: '-'; STAR: '*'; SLASH: '/';
LPAREN: '('; RPAREN: ')'; LBRACKET: '['; RBRACKET: ']'; LBRACE: '{'; RBRACE: '}';

DATE         : D D D D '-' D D '-' D D ;
FLOAT        : DIGITS '.' DIGITS EXP? | DIGITS EXP ;
INT          : DIGITS ;
TEXT_BEGIN   : '"""' -> more, pushMode(IN_TEXT) ;
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

// A mode and not one rule: a rule that fails at the end of the file would be tried again at every further `"""`.
mode IN_TEXT;
TEXT      : '"""' -> popMode ;
TEXT_PART : ('\\' . | '\\' EOF | '"' | ~["\\]+) -> more ;
