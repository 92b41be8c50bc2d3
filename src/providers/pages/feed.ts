import { languageTag, timeOf } from './article.js';
import { cleanLine } from './clean.js';
import { type PageFacts, PageUnreadable } from './page.js';
import { addressIn } from './sanitize.js';

/** Ours: the most items of a feed that are read, the first ones. */
const MOST_ITEMS = 200;
const LONGEST_SUMMARY = 20_000;

/** A feed as HTML, to be read like a page, and what it says of itself. */
export interface FeedPage extends Pick<PageFacts, 'title' | 'language' | 'canonicalUrl'> {
  html: string;
}

interface FeedItem {
  title: string | null;
  url: string | null;
  publishedAt: string | null;
  /** Its summary, as HTML that is not safe. */
  summary: string;
}

/** Parses RSS, Atom, RDF or JSON Feed. Throws PageUnreadable if it is none of them. */
export const feedOf = async (text: string, url: string): Promise<FeedPage> => {
  const { parseFeed } = await import('feedsmith');
  const feed = parsed(() => parseFeed(text.replace(/^\ufeff/, '')).feed);
  const items = listOf(feed, 'items') ?? listOf(feed, 'entries') ?? [];
  const title = cleanLine(textAt(feed, 'title'), 300);
  const list = items.slice(0, MOST_ITEMS).map((item) => htmlOf(itemOf(item, url)));
  return {
    title,
    language: languageTag(textAt(feed, 'language')),
    canonicalUrl: linkOf(feed, url),
    html: `<h1>${escaped(title ?? 'Feed')}</h1><ul>${list.join('')}</ul>`,
  };
};

const parsed = (parse: () => unknown): object => {
  try {
    return Object(parse());
  } catch (cause) {
    throw Object.assign(new PageUnreadable('is no feed that can be read', 'feed'), { cause });
  }
};

const itemOf = (item: unknown, base: string): FeedItem => ({
  title: cleanLine(textAt(item, 'title'), 300),
  url: linkOf(item, base),
  publishedAt: ['pubDate', 'published', 'updated', 'date_published', 'date', 'dc']
    .map((name) => timeOf(textAt(item, name)))
    .reduce((found, time) => found ?? time, null),
  summary: (
    ['description', 'summary', 'content', 'content_html', 'content_text']
      .map((name) => textAt(item, name))
      .find((text) => text !== null && text.trim() !== '') ?? ''
  ).slice(0, LONGEST_SUMMARY),
});

const htmlOf = ({ title, url, publishedAt, summary }: FeedItem): string => {
  const name = escaped(title ?? url ?? 'Untitled');
  const link = url === null ? name : `<a href="${escaped(url)}">${name}</a>`;
  const time = publishedAt === null ? '' : ` (${publishedAt.slice(0, 10)})`;
  return `<li><p>${link}${time}</p><div>${summary}</div></li>`;
};

const linkOf = (of: unknown, base: string): string | null => {
  const own = textAt(of, 'link') ?? textAt(of, 'url') ?? textAt(of, 'home_page_url');
  const links = listOf(of, 'links') ?? [];
  const alternate = links.find((link) => /^(alternate)?$/.test(textAt(link, 'rel') ?? ''));
  return addressIn(own ?? textAt(alternate, 'href'), base);
};

/** Returns a member as text; of an object that holds a text, its `value`. */
const textAt = (of: unknown, name: string): string | null => {
  const found: unknown = typeof of === 'object' && of !== null ? Reflect.get(of, name) : undefined;
  if (typeof found === 'string') return found;
  return typeof found === 'object' && found !== null && !Array.isArray(found) && name !== 'value'
    ? textAt(found, 'value')
    : null;
};

const listOf = (of: unknown, name: string): unknown[] | null => {
  const found: unknown = typeof of === 'object' && of !== null ? Reflect.get(of, name) : undefined;
  return Array.isArray(found) ? found : null;
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
