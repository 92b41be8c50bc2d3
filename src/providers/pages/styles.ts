import { type Element as CssNode, compile } from 'stylis';
import { isForScreen } from './media.js';
import type { PageDocument, PageElement } from './tree.js';

/** The properties by which text can be hidden. */
const PROPERTIES = new Set(
  (
    'display visibility opacity font font-size position left right top bottom inset text-indent ' +
    'margin-left transform clip clip-path width height max-width max-height overflow overflow-x ' +
    'overflow-y color background background-color content-visibility'
  ).split(' '),
);
const LONGEST_SELECTOR = 1000;
/** Rules that hold other rules, which apply. */
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

/** The value that a declaration sets, and its rank among others: the higher one counts. */
interface RankedValue {
  value: string;
  rank: number;
}

/** The declared values of an element by their properties. */
export type DeclaredStyle = Map<string, string>;

/**
 * Returns the function that finds the values that a page's styles declare for an element, of those
 * properties by which text can be hidden: by importance, specificity and order, as browsers do.
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
    const rank = specificityOf(selector) * 1e6 + order;
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

/** Puts the values of custom properties in. Ours: wherever they are declared, the last one counts. */
const resolved = (value: string, variables: ReadonlyMap<string, string>): string => {
  let text = value;
  for (let depth = 0; depth < 5 && text.includes('var('); depth++) {
    text = text
      .replace(
        /var\(\s*(--[\w-]+)\s*(?:,([^()]*))?\)/g,
        (whole, name, otherwise) => variables.get(name) ?? otherwise ?? whole,
      )
      .slice(0, LONGEST_SELECTOR);
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
        if (declarations.length > 0) {
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
  return declarationOf(props, children);
};

const declarationOf = (name: string, given: string): CssDeclaration[] => {
  const property = unescaped(name).trim().toLowerCase();
  if (!PROPERTIES.has(property)) return [];
  const text = unescaped(given).trim().toLowerCase();
  const value = text.replace(/\s*!\s*important$/, '');
  return [{ property, value, isImportant: value !== text }];
};

const inlineDeclarations = (style: string): CssDeclaration[] =>
  plainCss(style)
    .split(';')
    .flatMap((each) => {
      const colon = each.indexOf(':');
      return colon < 0 ? [] : declarationOf(each.slice(0, colon), each.slice(colon + 1));
    });

/**
 * Returns CSS without comments, and without what the parser would take for one: in CSS `//` begins
 * none. A quotation mark that is not closed on its line is no string.
 */
const plainCss = (css: string): string =>
  css.replace(
    /("(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*')|\/\*[\s\S]*?(?:\*\/|$)|<!--|-->|\/\/|["']/g,
    (whole, string?: string) => string ?? (whole === '//' ? '/ /' : ' '),
  );

const unescaped = (text: string): string =>
  text.replace(/\\(?:([0-9a-f]{1,6})\s?|(.))/gi, (_, code?: string, letter = '') =>
    code === undefined ? letter : characterOf(Number.parseInt(code, 16)),
  );

const characterOf = (code: number): string =>
  code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';

/** Returns the specificity of a selector (Selectors Level 4, 15) as one number. */
const specificityOf = (selector: string): number => {
  const plain = selector.replace(/"[^"]*"|'[^']*'/g, '');
  const count = (pattern: RegExp): number => Math.min(99, plain.match(pattern)?.length ?? 0);
  const ids = count(/#[\w-]+/g);
  const classes = count(/\.[\w-]+|\[[^\]]*\]|(?<!:):(?!:)[\w-]+/g);
  const types = count(/(?:^|[\s>+~(,])[a-z][\w-]*/gi);
  return ids * 10_000 + classes * 100 + types;
};

/**
 * Returns the function that finds the elements of a selector. Most selectors of a page fit nothing
 * in it, so only those elements are tried that have the id, class or name of its last part.
 */
const selectorIndex = (document: PageDocument) => {
  const byKey = new Map<string, PageElement[]>();
  const add = (key: string, element: PageElement): void => {
    const those = byKey.get(key);
    if (those) those.push(element);
    else byKey.set(key, [element]);
  };
  const all = Array.from(document.querySelectorAll('*'));
  for (const element of all) {
    add(element.localName, element);
    if (element.id) add(`#${element.id}`, element);
    for (const name of new Set(element.className.split(/\s+/))) if (name) add(`.${name}`, element);
  }
  return (selector: string): PageElement[] => {
    if (selector.length > LONGEST_SELECTOR) return [];
    const last = /(?:^|[\s>+~])([^\s>+~]*)$/.exec(selector)?.[1] ?? '';
    const isPlain = /^[\w.#-]+$/.test(last);
    const key = isPlain ? (/#[\w-]+|\.[\w-]+/.exec(last)?.[0] ?? last.toLowerCase()) : null;
    const tried = key === null ? all : (byKey.get(key) ?? []);
    if (key === selector) return tried;
    return fitting(document, selector, tried);
  };
};

/** Ours: from so many elements on, one walk through the document costs less than single tests. */
const FEW = 20;

const fitting = (document: PageDocument, selector: string, tried: PageElement[]): PageElement[] => {
  if (tried.length === 0) return [];
  try {
    if (tried.length <= FEW) return tried.filter((element) => element.matches(selector));
    return Array.from(document.querySelectorAll(selector));
  } catch {
    // A selector that is not valid, or not known, selects nothing.
    return [];
  }
};
