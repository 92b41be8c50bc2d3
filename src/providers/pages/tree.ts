import { Parser } from 'htmlparser2';
import { parseHTML } from 'linkedom';
import { PageUnreadable } from './page.js';

export interface PageNode {
  nodeType: number;
  parentNode: PageElement | null;
  childNodes: Iterable<PageNode> & ArrayLike<PageNode>;
  textContent: string | null;
  remove(): void;
}

export interface PageElement extends PageNode {
  localName: string;
  id: string;
  className: string;
  attributes: Iterable<{ name: string; value: string }>;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  matches(selector: string): boolean;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement> & ArrayLike<PageElement>;
  appendChild(node: PageNode): void;
  replaceWith(...nodes: (PageNode | string)[]): void;
  before(...nodes: (PageNode | string)[]): void;
  after(...nodes: (PageNode | string)[]): void;
}

export interface PageDocument extends Omit<PageElement, 'localName'> {
  documentElement: PageElement;
  head: PageElement;
  body: PageElement;
  title: string;
  createElement(name: string): PageElement;
  createTextNode(text: string): PageNode;
}

export const isElement = (node: PageNode): node is PageElement => node.nodeType === 1;
export const isTextNode = (node: PageNode): boolean => node.nodeType === 3;

export interface PageTree {
  document: PageDocument;
  css: string;
}

/**
 * Maximum number and depth of elements. Below a depth of 500, elements become siblings, as in
 * browsers.
 */
const MAX_ELEMENTS = 100_000;
const MAX_DEPTH = 10_000;
const FLAT_BELOW = 500;
const MAX_CSS = 2_000_000;

const SKIPPED = new Set(
  (
    'script noscript template iframe object embed applet canvas audio video map ' +
    'select datalist textarea input noembed noframes annotation annotation-xml'
  ).split(' '),
);
const OF_HEAD = new Set(['title', 'meta', 'link', 'base', 'style', 'script']);

/**
 * Parses HTML without comments and invisible elements. The depth is limited, so that recursion is
 * safe. Throws PageUnreadable.
 */
export const parsePage = (html: string): PageTree => {
  const empty = '<!doctype html><html><head></head><body></body></html>';
  const document: PageDocument = parseHTML(empty).document;
  const builder = new Builder(document);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => builder.open(name, attributes),
      ontext: (text) => builder.text(text),
      onclosetag: () => builder.close(),
    },
    { lowerCaseTags: true, decodeEntities: true },
  );
  // In pieces, so that the limits stop a hostile page early.
  for (let at = 0; at < html.length; at += 65_536) parser.write(html.slice(at, at + 65_536));
  parser.end();
  builder.flush();
  return { document, css: builder.css.join('\n') };
};

interface OpenElement {
  /** `null` for a skipped element. */
  element: PageElement | null;
  before: PageElement;
}

class Builder {
  readonly css: string[] = [];
  #cssLength = 0;
  readonly #open: OpenElement[] = [];
  #node: PageElement;
  #words: string[] = [];
  #elements = 0;
  #skipping = 0;

  constructor(readonly document: PageDocument) {
    this.#node = document.head;
  }

  open(name: string, attributes: Record<string, string>): void {
    this.flush();
    if (++this.#elements > MAX_ELEMENTS)
      throw new PageUnreadable(`has more than ${MAX_ELEMENTS} elements`);
    if (this.#open.length >= MAX_DEPTH)
      throw new PageUnreadable(`is nested more than ${MAX_DEPTH} levels deep`);
    if (this.#skipping > 0 || isSkipped(name, attributes)) {
      this.#skipping++;
      this.#open.push({ element: null, before: this.#node });
      return;
    }
    const own = this.#ownOf(name);
    const isBody = own ? name === 'body' : !OF_HEAD.has(name);
    if (isBody && this.#isInHead()) this.#node = this.document.body;
    const before = this.#node;
    if (!own) this.#node = this.#append(this.document.createElement(name));
    copyAttributes(own ?? this.#node, attributes);
    this.#open.push({ element: own ?? this.#node, before });
  }

  close(): void {
    this.flush();
    const closed = this.#open.pop();
    if (!closed) return;
    if (closed.element === null) this.#skipping--;
    else this.#node = closed.before;
  }

  text(text: string): void {
    if (this.#skipping === 0) this.#words.push(text);
  }

  flush(): void {
    if (this.#words.length === 0) return;
    const text = this.#words.join('');
    this.#words = [];
    if (this.#node.localName === 'style') this.#addCss(text);
    else if (!this.#isInHead()) this.#appendText(text);
    else if (text.trim() !== '') {
      this.#node = this.document.body;
      this.#appendText(text);
    }
  }

  #append(element: PageElement): PageElement {
    const deep = this.#open[FLAT_BELOW - 1]?.element;
    (deep ?? this.#node).appendChild(element);
    return element;
  }

  #appendText(text: string): void {
    this.#node.appendChild(this.document.createTextNode(text));
  }

  #addCss(text: string): void {
    this.#cssLength += text.length;
    if (this.#cssLength > MAX_CSS)
      throw new PageUnreadable(`has more than ${MAX_CSS} characters of styles`);
    this.css.push(text);
  }

  #isInHead(): boolean {
    return this.#node === this.document.head;
  }

  #ownOf(name: string): PageElement | null {
    const { documentElement, head, body } = this.document;
    if (name === 'html') return documentElement;
    if (name === 'head') return head;
    return name === 'body' ? body : null;
  }
}

const isSkipped = (name: string, { type = '' }: Record<string, string>): boolean => {
  const isFacts = name === 'script' && /^application\/ld\+json$/i.test(type.trim());
  return SKIPPED.has(name) && !isFacts;
};

const copyAttributes = (element: PageElement, attributes: Record<string, string>): void => {
  for (const [name, value] of Object.entries(attributes)) {
    if (/^[a-z_:@][\w:.@-]{0,99}$/i.test(name) && !element.hasAttribute(name)) {
      element.setAttribute(name.toLowerCase(), value);
    }
  }
};
