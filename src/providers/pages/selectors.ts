import { compile, type Options } from 'css-select';
import {
  isElement,
  isTextNode,
  type PageDocument,
  type PageElement,
  type PageNode,
} from './tree.js';

const MAX_SELECTOR_LENGTH = 1000;

/** Pseudo-classes that always match here. */
const HOLDING = /:(defined|read-only|dir\(ltr\)|lang\([\w-]*\)|-webkit-any-link)(?![\w-])/g;
/** Browsers treat selectors with unknown pseudo-classes as invalid. */
const KNOWN = new Set(
  (
    'active any-link checked disabled empty enabled first-child first-of-type focus has hover is ' +
    'last-child last-of-type link not nth-child nth-last-child nth-last-of-type nth-of-type ' +
    'only-child only-of-type optional required root scope visited where defined read-only dir ' +
    'lang focus-visible focus-within target before after first-line first-letter'
  ).split(' '),
);

export const isKnownSelector = (selector: string): boolean =>
  [...withoutStrings(selector).matchAll(/(::?)(-?[a-z][\w-]*)/gi)].every(
    ([, colons, name = '']) =>
      colons === '::' || name.startsWith('-') || KNOWN.has(name.toLowerCase()),
  );

const withoutStrings = (selector: string): string => selector.replace(/"[^"]*"|'[^']*'/g, '""');

/** Selectors Level 4, 15. */
export const computeSpecificity = (selector: string): number => {
  const plain = withoutStrings(selector);
  const count = (pattern: RegExp): number => Math.min(99, plain.match(pattern)?.length ?? 0);
  const ids = count(/#[\w-]+/g);
  const classes = count(/\.[\w-]+|\[[^\]]*\]|(?<!:):(?!:)[\w-]+/g);
  const types = count(/(?:^|[\s>+~(,])[a-z][\w-]*/gi);
  return ids * 10_000 + classes * 100 + types;
};

/**
 * Most selectors of a page match nothing, so only elements with the id, class or name of the last
 * part are tested.
 */
export const selectorIndex = (document: PageDocument): ((selector: string) => PageElement[]) => {
  const byKey = new Map<string, PageElement[]>();
  const add = (key: string, element: PageElement): void => {
    const elements = byKey.get(key);
    if (elements) elements.push(element);
    else byKey.set(key, [element]);
  };
  const all = Array.from(document.querySelectorAll('*'));
  for (const element of all) {
    add(element.localName, element);
    if (element.id) add(`#${element.id}`, element);
    for (const name of new Set(element.className.split(/\s+/))) if (name) add(`.${name}`, element);
  }
  const options = matchOptions();
  return (selector) => {
    if (selector.length > MAX_SELECTOR_LENGTH) return [];
    const last = /(?:^|[\s>+~])([^\s>+~]*)$/.exec(selector)?.[1] ?? '';
    const isPlain = /^[\w.#-]+$/.test(last);
    const key = isPlain ? (/#[\w-]+|\.[\w-]+/.exec(last)?.[0] ?? last.toLowerCase()) : null;
    const tried = key === null ? all : (byKey.get(key) ?? []);
    return key === selector ? tried : fitting(selector.replace(HOLDING, ''), tried, options);
  };
};

type MatchOptions = Options<PageNode, PageElement>;

const fitting = (selector: string, tried: PageElement[], options: MatchOptions): PageElement[] => {
  if (tried.length === 0) return [];
  try {
    return tried.filter(compile(selector, options));
  } catch {
    // An invalid or unsupported selector matches nothing.
    return [];
  }
};

const matchOptions = (): MatchOptions => {
  const children = new WeakMap<PageNode, PageNode[]>();
  const getChildren = (node: PageNode): PageNode[] => {
    const known = children.get(node) ?? Array.from(node.childNodes);
    children.set(node, known);
    return known;
  };
  const existsOne = (test: (element: PageElement) => boolean, nodes: PageNode[]): boolean =>
    nodes.some((node) => isElement(node) && (test(node) || existsOne(test, getChildren(node))));
  const unused = (): never => {
    throw new Error('Only matching of selectors is supported');
  };
  return {
    adapter: {
      isTag: isElement,
      existsOne,
      getAttributeValue: (element, name) => element.getAttribute(name) ?? undefined,
      getChildren,
      getName: ({ localName }) => localName,
      getParent: ({ parentNode }) => parentNode,
      getSiblings: (node) => (node.parentNode ? getChildren(node.parentNode) : [node]),
      getText: (node) => (isTextNode(node) ? (node.textContent ?? '') : ''),
      hasAttrib: (element, name) => element.hasAttribute(name),
      removeSubsets: unused,
      findAll: unused,
      findOne: unused,
    },
  };
};
