import { truncateText } from '../../kernel/excerpt.js';
import { isJsonText } from '../../kernel/jsonvalue.js';
import { extractPageContent, type PageContent } from './article.js';
import { decodeText } from './charset.js';
import { cleanLine, cleanText } from './clean.js';
import { parseFeedPage } from './feed.js';
import { type VisiblePart, visiblePart } from './hide.js';
import { imageSentence } from './image.js';
import { detectSourceForm, isFeed, type SourceForm } from './kind.js';
import {
  NO_FACTS,
  type PageFormat,
  type PageLink,
  type PageReadOptions,
  type PageSource,
  type PageText,
  PageUnreadable,
} from './page.js';
import { convertToMarkdown, safeHtml, textIn } from './render.js';
import { addressIn, resolveAddresses } from './sanitize.js';
import type { PageElement } from './tree.js';

const MAX_LINKS = 500;

export const convertPage = async (source: PageSource, wish: PageReadOptions): Promise<PageText> => {
  const form = detectSourceForm(source);
  const reader = READERS[form];
  return reader(source, wish);
};

type FormReader = (source: PageSource, wish: PageReadOptions) => PageText | Promise<PageText>;

const refuse =
  (sentence: string, kind: 'pdf' | 'office' | null): FormReader =>
  () => {
    throw new PageUnreadable(sentence, kind);
  };

const decodePageSource = ({ body, contentType }: PageSource): string =>
  decodeText(body, contentType);

const plain = (kind: 'text' | 'json', raw: string, wish: PageReadOptions): PageText => {
  const text = cleanText(raw);
  if (text.trim() === '') throw new PageUnreadable('is empty', kind);
  const page = { ...NO_FACTS, kind, links: [], words: countWords(text), note: null };
  return withContent(page, text, { ...wish, format: 'text' });
};

const READERS: Record<SourceForm, FormReader> = {
  html: (source, wish) => {
    const text = decodePageSource(source);
    return isJson(text) ? plain('json', text, wish) : readHtml(text, source.url, wish);
  },
  xml: (source, wish) => {
    const xml = decodePageSource(source);
    return isFeed(xml) ? readFeed(xml, source.url, wish) : plain('text', xml, wish);
  },
  feed: (source, wish) => readFeed(decodePageSource(source), source.url, wish),
  json: (source, wish) => plain('json', decodePageSource(source), wish),
  text: (source, wish) => plain('text', decodePageSource(source), wish),
  image: (source) => ({
    ...NO_FACTS,
    kind: 'image',
    content: null,
    contentFormat: null,
    isTruncated: false,
    words: 0,
    links: [],
    note: null,
    excerpt: imageSentence(source),
  }),
  pdf: refuse('is a PDF file, which is not supported here', 'pdf'),
  office: refuse('is an office file, which is not supported here', 'office'),
  unknown: (source) => {
    const type = cleanLine(source.contentType, 100) ?? 'unknown';
    throw new PageUnreadable(`is not text. The content type is ${type}`);
  },
};

/** Some APIs send JSON labelled as HTML. */
const isJson = (text: string): boolean => /^\s*[[{]/.test(text) && isJsonText(text);

type VisibleContent = PageContent & Pick<VisiblePart, 'hiddenCharacters'>;

const visiblePage = (html: string, url: string, isWhole: boolean): VisibleContent => {
  const { document, hiddenCharacters } = visiblePart(html);
  const base = addressIn(document.querySelector('base[href]')?.getAttribute('href'), url) ?? url;
  const content = extractPageContent(document, base, isWhole);
  // After the article search, which weights links within the page differently.
  resolveAddresses(content.root, { base, length: html.length });
  return { ...content, hiddenCharacters };
};

const readHtml = (html: string, url: string, wish: PageReadOptions): PageText => {
  const { isArticle, root, facts, hiddenCharacters } = visiblePage(html, url, wish.isWhole);
  const links = linksIn(root);
  const kind = isArticle ? 'article' : 'page';
  const text = textIn(root, false);
  const hasPictures = wish.format !== 'text' && root.querySelector('img[src]') !== null;
  if (text.trim() === '' && !hasPictures) {
    throw new PageUnreadable(`has no visible text${invisibleReason(html, hiddenCharacters)}`, kind);
  }
  const note = buildVisibilityNote(text.length, hiddenCharacters);
  const page = { ...facts, kind, links, words: countWords(text), note } as const;
  return withContent(page, rendered(root, wish), wish);
};

const invisibleReason = (html: string, hiddenCharacters: number): string => {
  if (hiddenCharacters > 0) return `: ${hidden(hiddenCharacters)}`;
  return /<script\b/i.test(html)
    ? '. The scripts of the page may create text, but scripts are not run'
    : '';
};

const hidden = (characters: number): string =>
  `${characters} character${characters === 1 ? ' is' : 's are'} hidden by the styles of the page`;

/** Fewer hidden characters are typical for menus and dialogs. */
const MIN_HIDDEN = 200;

const buildVisibilityNote = (seen: number, hiddenCharacters: number): string | null => {
  if (seen === 0) return 'The page has images but no visible text';
  const isMostHidden = hiddenCharacters >= MIN_HIDDEN && hiddenCharacters > seen;
  return isMostHidden ? `Most of the text is left out: ${hidden(hiddenCharacters)}` : null;
};

const rendered = (root: PageElement, { format, hasAddresses }: PageReadOptions): string => {
  if (format === 'html') return safeHtml(root);
  return format === 'markdown' ? convertToMarkdown(root) : textIn(root, hasAddresses);
};

const CUT_FEED = 'The feed is incomplete. Entries at its end are missing';

const readFeed = async (text: string, url: string, wish: PageReadOptions): Promise<PageText> => {
  const { html, base, items, isCut, ...facts } = await parseFeedPage(text, url);
  const { root } = visiblePage(html, base, true);
  const links = linksIn(root);
  const words = countWords(textIn(root, false));
  const note = isCut ? CUT_FEED : items === 0 ? 'The feed has no items' : null;
  return withContent(
    { ...NO_FACTS, ...facts, kind: 'feed', links, words, note },
    rendered(root, wish),
    wish,
  );
};

const withContent = (
  page: Omit<PageText, 'content' | 'contentFormat' | 'isTruncated'>,
  whole: string,
  { format, most }: { format: PageFormat; most: number },
): PageText => {
  const content = truncateText(whole, most);
  return {
    ...page,
    content,
    contentFormat: format,
    isTruncated: content.length < whole.length,
  };
};

const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

/** Scripts without spaces are segmented by Unicode rules. */
const countWords = (text: string): number => {
  if (!UNSPACED.test(text))
    return text.match(/[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu)?.length ?? 0;
  let words = 0;
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
  for (const { isWordLike } of segmenter.segment(text)) if (isWordLike) words++;
  return words;
};

const linksIn = (root: PageElement): PageLink[] => {
  const links = new Map<string, PageLink>();
  for (const element of Array.from(root.querySelectorAll('a[href]'))) {
    const url = element.getAttribute('href') ?? '';
    if (links.size >= MAX_LINKS) break;
    if (url !== '' && !links.has(url)) {
      links.set(url, { text: cleanLine(element.textContent, 200) ?? '', url });
    }
  }
  return [...links.values()];
};
