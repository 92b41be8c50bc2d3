import { memberAt } from '../../kernel/jsonvalue.js';
import { languageTag, parsePageTime } from './article.js';
import { cleanLine } from './clean.js';
import { repairCutFeed } from './cutfeed.js';
import { expandDoctype } from './doctype.js';
import { visibleDocument } from './hide.js';
import { type PageFacts, PageUnreadable } from './page.js';
import { safeHtml } from './render.js';
import { addressIn, resolveAddresses } from './sanitize.js';

const MAX_ITEMS = 200;
const MAX_TEXT_LENGTH = 20_000;

/** A feed converted to HTML, to be read like a page. */
export interface FeedPage extends Pick<PageFacts, 'title' | 'language' | 'canonicalUrl'> {
  html: string;
  /** Address that relative links are resolved against. */
  base: string;
  items: number;
  /** Whether entries at the end may be missing. */
  isCut: boolean;
}

interface FeedItem {
  title: string | null;
  url: string | null;
  publishedAt: string | null;
  /** Longest text of the item, as unsafe HTML. */
  text: string;
}

/** Parses RSS, Atom, RDF or JSON Feed. Throws PageUnreadable. */
export const parseFeedPage = async (text: string, url: string): Promise<FeedPage> => {
  const { parseFeed } = await import('feedsmith');
  const xml = expandDoctype(text.replace(/^\ufeff/, ''));
  const repaired = repairCutFeed(xml);
  const { feed, format } = parsed(() => parseFeed(repaired ?? xml));
  const items = getList(feed, 'items') ?? getList(feed, 'entries') ?? [];
  const title = findTitle(feed, format);
  const stated = addressIn(textAt(feed, 'xml', 'base'), url);
  const canonicalUrl = findItemLink(feed, stated ?? url);
  // RFC 4287, 2. The other formats define no base, and mean the site.
  const base = stated ?? (format === 'atom' ? url : (canonicalUrl ?? url));
  const list = items
    .slice(0, MAX_ITEMS)
    .map((item) => renderFeedItem(toFeedItem(item, { base, format })));
  return {
    title,
    language: languageTag(textAt(feed, 'language') ?? textAt(feed, 'xml', 'lang')),
    canonicalUrl,
    html: `<h1>${escaped(title ?? 'Feed')}</h1><ul>${list.join('')}</ul>`,
    base,
    items: items.length,
    isCut: repaired !== null,
  };
};

interface ParsedFeed {
  feed: object;
  format: string;
}

const parsed = (parse: () => ParsedFeed): ParsedFeed => {
  try {
    return parse();
  } catch (cause) {
    throw Object.assign(new PageUnreadable('is not a valid feed', 'feed'), { cause });
  }
};

const toFeedItem = (
  item: unknown,
  { base: outer, format }: { base: string; format: string },
): FeedItem => {
  const base = addressIn(textAt(item, 'xml', 'base'), outer) ?? outer;
  const { html, base: own } = extractItemText(item);
  const text = html.slice(0, MAX_TEXT_LENGTH);
  const textBase = addressIn(own, base) ?? base;
  return {
    title: findTitle(item, format) ?? cleanLine(textAt(item, 'media', 'title'), 300),
    url: findItemLink(item, base),
    publishedAt:
      DATES.map((path) => parsePageTime(textAt(item, ...path))).find((time) => time !== null) ??
      null,
    text: textBase === outer ? text : withAddresses(text, textBase),
  };
};

const withAddresses = (html: string, base: string): string => {
  const { body } = visibleDocument(html);
  resolveAddresses(body, { base, length: html.length });
  return safeHtml(body);
};

/** An entity, an element with its end, or an empty element. */
const MARKUP =
  /&(?:#\d+|#x[\da-f]+|[a-z]\w*);|<([a-z]\w*)\b[^<>]*>[\s\S]*<\/\1\s*>|<(?:br|img|wbr)\b[^<>]*>/i;
const MAX_TITLE_LENGTH = 2000;

/** RSS does not define whether a title is HTML (RSS Advisory Board, best practices). */
const findTitle = (of: unknown, format: string): string | null => {
  const text = textAt(of, 'title')?.slice(0, MAX_TITLE_LENGTH) ?? '';
  const isStated = /html$/.test(textAt(of, 'title', 'type') ?? '');
  const isHtml = isStated || ((format === 'rss' || format === 'rdf') && MARKUP.test(text));
  return cleanLine(isHtml ? visibleDocument(text).body.textContent : text, 300);
};

const DATES = [
  ...[['pubDate'], ['published'], ['updated'], ['date_published'], ['date_modified'], ['date']],
  ...[
    ['dc', 'dates'],
    ['dc', 'date'],
    ['dcterms', 'issued'],
    ['dcterms', 'created'],
  ],
];

const HTML_TEXTS = [
  ...[['description'], ['summary'], ['content'], ['content', 'encoded'], ['content_html']],
  ...[
    ['itunes', 'summary'],
    ['googleplay', 'description'],
    ['dc', 'descriptions'],
    ['dc', 'description'],
  ],
];
const PLAIN_TEXTS = [['content_text'], ['itunes', 'subtitle']];

interface ItemText {
  html: string;
  base?: string | null;
}

/** Feeds repeat parts of a text under several names. */
const extractItemText = (item: unknown): ItemText => {
  const groups = getList(memberAt(item, 'media'), 'groups') ?? [memberAt(item, 'media', 'group')];
  const media = [memberAt(item, 'media'), ...groups].flatMap((each) => [
    each,
    ...(getList(each, 'contents') ?? []),
  ]);
  const texts = [
    ...HTML_TEXTS.map((path) => {
      const text = textAt(item, ...path);
      const html = memberAt(item, ...path, 'type') === 'text' ? asHtml(text) : text;
      return { html: html ?? '', base: textAt(item, ...path, 'xml', 'base') };
    }),
    ...PLAIN_TEXTS.map((path) => ({ html: asHtml(textAt(item, ...path)) ?? '' })),
    ...media.map((each) => ({ html: mediaText(each) ?? '' })),
  ];
  return texts
    .map((text) => ({ text, size: visibleSize(text.html) }))
    .reduce((fullest, each) => (each.size > fullest.size ? each : fullest), NO_TEXT).text;
};

const NO_TEXT: { text: ItemText; size: number } = { text: { html: '' }, size: 0 };

/** The type defaults to plain text (Media RSS). */
const mediaText = (media: unknown): string | null => {
  const text = textAt(media, 'description');
  return memberAt(media, 'description', 'type') === 'html' ? text : asHtml(text);
};

const asHtml = (text: string | null): string | null =>
  text === null ? null : escaped(text.trim()).replace(/\r\n?|\n/g, '<br>');

const visibleSize = (html: string): number =>
  html
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim().length;

const renderFeedItem = ({ title, url, publishedAt, text }: FeedItem): string => {
  const name = escaped(title ?? url ?? 'Untitled');
  const link = url === null ? name : `<a href="${escaped(url)}">${name}</a>`;
  const time = publishedAt === null ? '' : ` (${publishedAt.slice(0, 10)})`;
  return `<li><p>${link}${time}</p><div>${text}</div></li>`;
};

/** Prefers the address of the page over that of a file. */
const findItemLink = (of: unknown, base: string): string | null => {
  const links = getList(of, 'links') ?? getList(memberAt(of, 'atom'), 'links') ?? [];
  const alternate = links.find((link) => /^(alternate)?$/.test(textAt(link, 'rel') ?? ''));
  const file = getList(of, 'enclosures')?.[0] ?? getList(of, 'attachments')?.[0];
  const candidates = [
    ...['link', 'url', 'home_page_url', 'external_url'].map((name) => textAt(of, name)),
    textAt(alternate, 'href'),
    findPermalink(of),
    textAt(file, 'url'),
  ];
  const found = candidates.find((address) => address !== null && address.trim() !== '');
  return addressIn(found, base);
};

/** A GUID is a permanent link unless it says otherwise. */
const findPermalink = (item: unknown): string | null => {
  const guid = textAt(item, 'guid');
  const isLink = memberAt(item, 'guid', 'isPermaLink') !== false;
  const id = (isLink ? guid : null) ?? textAt(item, 'id');
  return id !== null && /^https?:\/\//i.test(id.trim()) ? id : null;
};

/** Reads `value` of an object, and the first item of a list. */
const textAt = (of: unknown, ...path: string[]): string | null => {
  const found = memberAt(of, ...path);
  const first = Array.isArray(found) ? found[0] : found;
  if (typeof first === 'string') return first;
  const value = memberAt(first, 'value');
  return typeof value === 'string' ? value : null;
};

const getList = (of: unknown, name: string): unknown[] | null => {
  const found = memberAt(of, name);
  return Array.isArray(found) ? found : null;
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
