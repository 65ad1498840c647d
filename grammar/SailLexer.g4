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
//
// And the words of the language, from IDENT by compiler/frontend/keywords.cc, each spelled as its token in lower case.
// Rules for them would be worked out again in every process, which takes most of the time of a small file. Those marked
// * are for statements that are not supported yet.
tokens {
  // Reserved words.
  SAIL, IMPORT, LET, PARAM, ASSERT, OVERRIDE, REMOVE, EXTENDS, AND, OR, NOT, TRUE, FALSE, NONE,
  IF, THEN, ELSE, FOR, IN, FN /* * */,
  // Soft words: they have a meaning in their statement and are ordinary names elsewhere, but never a block kind.
  AS, LINK, WITHIN, ACROSS, MINIMIZE, MAXIMIZE, SUBJECT, TO, SHA256, WHERE, WARN, MOVED /* * */, TRACE /* * */,
  AT /* * */, TEST /* * */, SET /* * */, PLAN /* * */, REPLAY /* * */, ON /* * */, EXPECT /* * */,
  INFEASIBLE /* * */, BECAUSE /* * */, ERROR /* * */, SNAPSHOT /* * */,
  UNIT, PER, NEGATE, CALL, INDEX, LABEL, MESSAGE
}

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
