import { type Element as CssNode, compile } from 'stylis';
import { isForScreen } from './media.js';
import { computeSpecificity, isKnownSelector, selectorIndex } from './selectors.js';
import type { PageDocument, PageElement } from './tree.js';

const PROPERTIES = new Set(
  (
    'display visibility opacity font font-size position left right top bottom inset text-indent ' +
    'margin-left transform clip clip-path width height max-width max-height overflow overflow-x ' +
    'overflow-y color background background-color content-visibility filter zoom translate scale ' +
    'inset-inline-start inset-inline-end inset-block-start inset-block-end margin-inline-start ' +
    'margin-block-start margin-top block-size max-block-size inline-size max-inline-size ' +
    '-webkit-text-fill-color'
  ).split(' '),
);
const MAX_VALUE_LENGTH = 1000;
/** At-rules whose nested rules are applied. */
const HOLDING = /^@(media|supports|layer|container|scope)$/;

interface CssDeclaration {
  property: string;
  value: string;
  isImportant: boolean;
}

interface CssRule {
  selector: string;
  declarations: CssDeclaration[];
}

/** The value with the highest rank applies. */
interface RankedValue {
  value: string;
  rank: number;
}

export type DeclaredStyle = Map<string, string>;

/**
 * Returns a function that finds the declared values of an element, by importance, specificity and
 * order, as in browsers. Only properties that can hide text are considered.
 */
export const declaredStyles = (
  document: PageDocument,
  css: string,
): ((element: PageElement) => DeclaredStyle) => {
  const variables = new Map<string, string>();
  const rules = rulesIn(css, variables);
  const declared = new Map<PageElement, Map<string, RankedValue>>();
  const find = selectorIndex(document);
  rules.forEach(({ selector, declarations }, order) => {
    const rank = computeSpecificity(selector) * 1e6 + order;
    for (const element of find(selector)) {
      const own = declared.get(element) ?? new Map<string, RankedValue>();
      declared.set(element, own);
      for (const each of declarations) declare(own, each, rank);
    }
  });
  return (element) => {
    const own = declared.get(element) ?? new Map<string, RankedValue>();
    const inline = element.getAttribute('style');
    if (inline) for (const each of inlineDeclarations(inline)) declare(own, each, INLINE);
    return new Map([...own].map(([name, { value }]) => [name, resolved(value, variables)]));
  };
};

const INLINE = 1e15;
const IMPORTANT = 1e16;

const declare = (
  own: Map<string, RankedValue>,
  { property, value, isImportant }: CssDeclaration,
  of: number,
): void => {
  const rank = isImportant ? of + IMPORTANT : of;
  if ((own.get(property)?.rank ?? -1) <= rank) own.set(property, { value, rank });
};

/** Simplified: the last declaration of a custom property applies everywhere. */
const resolved = (value: string, variables: ReadonlyMap<string, string>): string => {
  let text = value;
  for (let depth = 0; depth < 5 && text.includes('var('); depth++) {
    text = text
      .replace(
        /var\(\s*(--[\w-]+)\s*(?:,([^()]*))?\)/g,
        (whole, name, otherwise) => variables.get(name) ?? otherwise ?? whole,
      )
      .slice(0, MAX_VALUE_LENGTH);
  }
  return text;
};

const rulesIn = (css: string, variables: Map<string, string>): CssRule[] => {
  const rules: CssRule[] = [];
  const visit = (nodes: CssNode[]): void => {
    for (const { type, props, children } of nodes) {
      if (typeof children === 'string') continue;
      if (HOLDING.test(type)) {
        const query = Array.isArray(props) ? props.join(',') : props;
        if (type !== '@media' || isForScreen(query)) visit(children);
      } else if (type === 'rule' && Array.isArray(props)) {
        const declarations = children.flatMap((node) => declarationIn(node, variables));
        // As in browsers, one invalid selector invalidates the rule.
        if (declarations.length > 0 && props.every(isKnownSelector)) {
          for (const selector of props) rules.push({ selector, declarations });
        }
      }
    }
  };
  visit(compile(plainCss(css)));
  return rules;
};

const declarationIn = (
  { type, props, children }: CssNode,
  variables: Map<string, string>,
): CssDeclaration[] => {
  if (type !== 'decl' || typeof props !== 'string' || typeof children !== 'string') return [];
  if (props.startsWith('--')) variables.set(props, children.trim());
  return parseDeclaration(props, children);
};

const parseDeclaration = (name: string, rawValue: string): CssDeclaration[] => {
  const property = unescaped(name).trim().toLowerCase();
  if (!PROPERTIES.has(property)) return [];
  const text = unescaped(rawValue).trim().toLowerCase();
  const value = text.replace(/\s*!\s*important$/, '');
  return [{ property, value, isImportant: value !== text }];
};

const inlineDeclarations = (style: string): CssDeclaration[] =>
  plainCss(style)
    .split(';')
    .flatMap((each) => {
      const colon = each.indexOf(':');
      return colon < 0 ? [] : parseDeclaration(each.slice(0, colon), each.slice(colon + 1));
    });

/**
 * Removes comments, and text that the parser would mistake for one: `//` is not a comment in CSS. A
 * string must end on its line.
 */
const plainCss = (css: string): string =>
  css.replace(
    /("(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*')|\/\*[\s\S]*?(?:\*\/|$)|<!--|-->|\/\/|["']/g,
    (whole, string?: string) => string ?? (whole === '//' ? '/ /' : ' '),
  );

const unescaped = (text: string): string =>
  text.replace(/\\(?:([0-9a-f]{1,6})\s?|(.))/gi, (_, code?: string, letter = '') =>
    code === undefined ? letter : decodeCodePoint(Number.parseInt(code, 16)),
  );

const decodeCodePoint = (code: number): string =>
  code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
