import { beginningOf } from '../../kernel/excerpt.js';
import { contentOf, type PageContent } from './article.js';
import { decodedText } from './charset.js';
import { cleanLine, cleanText } from './clean.js';
import { feedOf } from './feed.js';
import { visibleDocument } from './hide.js';
import { imageSentence } from './image.js';
import { formOf, isFeed, type SourceForm } from './kind.js';
import {
  NO_FACTS,
  type PageFormat,
  type PageLink,
  type PageSource,
  type PageText,
  PageUnreadable,
  type PageWish,
} from './page.js';
import { markdownOf, safeHtml, textIn } from './render.js';
import { addressIn, resolveAddresses } from './sanitize.js';
import type { PageElement } from './tree.js';

const MOST_LINKS = 500;

/** Reads a page: its visible content in the wanted form, and what it says of itself. */
export const convertPage = async (source: PageSource, wish: PageWish): Promise<PageText> => {
  const form = formOf(source);
  const reader = READERS[form];
  return reader(source, wish);
};

type FormReader = (source: PageSource, wish: PageWish) => PageText | Promise<PageText>;

const refuse =
  (sentence: string, kind: 'pdf' | 'office' | null): FormReader =>
  () => {
    throw new PageUnreadable(sentence, kind);
  };

const textOf = ({ body, contentType }: PageSource): string => decodedText(body, contentType);

const plain = (kind: 'text' | 'json', given: string, wish: PageWish): PageText => {
  const text = cleanText(given);
  const page = { ...NO_FACTS, kind, links: [], words: countWords(text) };
  return withContent(page, text, { ...wish, format: 'text' });
};

/** Counts the words that are seen, without addresses and marks. */
const wordsIn = (root: PageElement): { words: number } => ({
  words: countWords(textIn(root, false)),
});

const READERS: Record<SourceForm, FormReader> = {
  html: (source, wish) => readHtml(textOf(source), source.url, wish),
  xml: (source, wish) => {
    const xml = textOf(source);
    return isFeed(xml) ? readFeed(xml, source.url, wish) : plain('text', xml, wish);
  },
  feed: (source, wish) => readFeed(textOf(source), source.url, wish),
  json: (source, wish) => plain('json', textOf(source), wish),
  text: (source, wish) => plain('text', textOf(source), wish),
  image: (source) => ({
    ...NO_FACTS,
    kind: 'image',
    content: null,
    contentFormat: null,
    isTruncated: false,
    words: 0,
    links: [],
    excerpt: imageSentence(source),
  }),
  pdf: refuse('is a PDF file, which is not read here', 'pdf'),
  office: refuse('is an office file, which is not read here', 'office'),
  unknown: (source) => {
    const type = cleanLine(source.contentType, 100) ?? 'of no known type';
    throw new PageUnreadable(`is ${type}, which is no text`);
  },
};

/** Parses HTML, and removes from it what nobody sees. */
const visiblePage = (html: string, url: string, isWhole: boolean): PageContent => {
  const document = visibleDocument(html);
  const base = addressIn(document.querySelector('base[href]')?.getAttribute('href'), url) ?? url;
  const content = contentOf(document, base, isWhole);
  // After the search, which takes links within the page for less than those that lead elsewhere.
  resolveAddresses(content.root, { base, length: html.length });
  return content;
};

const readHtml = (html: string, url: string, wish: PageWish): PageText => {
  const { isArticle, root, facts } = visiblePage(html, url, wish.isWhole);
  const links = linksIn(root);
  const kind = isArticle ? 'article' : 'page';
  return withContent({ ...facts, kind, links, ...wordsIn(root) }, rendered(root, wish), wish);
};

const rendered = (root: PageElement, { format, hasAddresses }: PageWish): string => {
  if (format === 'html') return safeHtml(root);
  return format === 'markdown' ? markdownOf(root) : textIn(root, hasAddresses);
};

const readFeed = async (text: string, url: string, wish: PageWish): Promise<PageText> => {
  const { html, ...facts } = await feedOf(text, url);
  const { root } = visiblePage(html, url, true);
  const links = linksIn(root);
  return withContent(
    { ...NO_FACTS, ...facts, kind: 'feed', links, ...wordsIn(root) },
    rendered(root, wish),
    wish,
  );
};

const withContent = (
  page: Omit<PageText, 'content' | 'contentFormat' | 'isTruncated'>,
  whole: string,
  { format, most }: { format: PageFormat; most: number },
): PageText => {
  const content = beginningOf(whole, most);
  return {
    ...page,
    content,
    contentFormat: format,
    isTruncated: content.length < whole.length,
  };
};

const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

/** Counts words; those of scripts without spaces as Unicode divides them. */
const countWords = (text: string): number => {
  if (!UNSPACED.test(text))
    return text.match(/[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu)?.length ?? 0;
  let words = 0;
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
  for (const { isWordLike } of segmenter.segment(text)) if (isWordLike) words++;
  return words;
};

/** Returns the links of an element, each address once. */
const linksIn = (root: PageElement): PageLink[] => {
  const links = new Map<string, PageLink>();
  for (const element of Array.from(root.querySelectorAll('a[href]'))) {
    const url = element.getAttribute('href') ?? '';
    if (links.size >= MOST_LINKS) break;
    if (url !== '' && !links.has(url)) {
      links.set(url, { text: cleanLine(element.textContent, 200) ?? '', url });
    }
  }
  return [...links.values()];
};
