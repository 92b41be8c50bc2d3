import { isProbablyReaderable, Readability } from '@mozilla/readability';
import { iso } from '../../kernel/clock.js';
import { cleanLine } from './clean.js';
import type { PageFacts } from './page.js';
import { addressIn } from './sanitize.js';
import type { PageDocument, PageElement } from './tree.js';

/** Ours: a page with more elements is no article, and would take too long to be searched for one. */
const MAX_SEARCHED = 30_000;
/** Ours: the fewest characters of an article. */
const SHORTEST = 200;

/** The most characters of a title; whoever shows it may cut it once more. */
const MAX_TITLE_LENGTH = 4000;

/** A page without what is hidden: the element with its content, and what it says of itself. */
export interface PageContent {
  isArticle: boolean;
  root: PageElement;
  facts: PageFacts;
}

/** Returns the article of a page, or all of it if it is none or if all is wanted. */
export const contentOf = (document: PageDocument, url: string, isWhole: boolean): PageContent => {
  const facts = statedFacts(document, url);
  const whole = { isArticle: false, root: document.body, facts };
  if (isWhole || document.querySelectorAll('*').length > MAX_SEARCHED) return whole;
  const page = Object(document);
  if (!isProbablyReaderable(page)) return withoutSurroundings(whole);
  const serializer = (node: unknown): PageElement => Object(node);
  const found = new Readability<PageElement>(page, { serializer }).parse();
  if (!found?.content || (found.length ?? 0) < SHORTEST) return withoutSurroundings(whole);
  return {
    isArticle: true,
    root: found.content,
    facts: {
      ...facts,
      title: cleanLine(found.title, MAX_TITLE_LENGTH) ?? facts.title,
      byline: cleanLine(found.byline, 200) ?? facts.byline,
      siteName: cleanLine(found.siteName, 200) ?? facts.siteName,
      publishedAt: timeOf(found.publishedTime) ?? facts.publishedAt,
      excerpt: facts.excerpt ?? cleanLine(found.excerpt, 500),
    },
  };
};

const MAIN_PART = 'main, article, [role="main"]';
const SURROUNDINGS =
  'nav, footer, aside, [role="navigation"], [role="banner"], [role="contentinfo"]';

/** Leaves out what stands around the main part of a page, if it has one with text. */
const withoutSurroundings = (page: PageContent): PageContent => {
  const { root } = page;
  const parts = new Set(Array.from(root.querySelectorAll(MAIN_PART)));
  const all = Array.from(root.querySelectorAll(SURROUNDINGS));
  const around = new Set(all.filter((one) => !isWithin(one, parts)));
  const isMain = (part: PageElement): boolean =>
    !isWithin(part, around) && /\S/.test(part.textContent ?? '');
  if ([...parts].some(isMain)) for (const one of around) one.remove();
  return page;
};

const isWithin = (element: PageElement, others: Set<PageElement>): boolean => {
  for (let at = element.parentNode; at !== null; at = at.parentNode) {
    if (others.has(at)) return true;
  }
  return false;
};

/** Returns what a page says of itself in its head. */
const statedFacts = (document: PageDocument, url: string): PageFacts => {
  const attribute = (selector: string, name: string): string | null =>
    document.querySelector(selector)?.getAttribute(name) ?? null;
  const meta = (...names: string[]): string | null => {
    for (const name of names) {
      const found = attribute(`meta[name="${name}"], meta[property="${name}"]`, 'content');
      if (found) return found;
    }
    return null;
  };
  const title = document.head.querySelector('title')?.textContent;
  return {
    title:
      cleanLine(title, MAX_TITLE_LENGTH) ??
      cleanLine(meta('og:title', 'twitter:title'), MAX_TITLE_LENGTH),
    byline: cleanLine(meta('author', 'article:author'), 200),
    siteName: cleanLine(meta('og:site_name', 'application-name'), 200),
    publishedAt: timeOf(
      meta('article:published_time', 'date', 'dc.date', 'datePublished') ??
        attribute('time[datetime]', 'datetime'),
    ),
    language: languageTag(document.documentElement.getAttribute('lang')),
    excerpt: cleanLine(meta('description', 'og:description', 'twitter:description'), 500),
    canonicalUrl: addressIn(attribute('link[rel="canonical"]', 'href'), url),
  };
};

/** Returns a time in ISO 8601; null if the text is none. */
export const timeOf = (text: string | null | undefined): string | null => {
  const ms = Date.parse((text ?? '').trim().slice(0, 100));
  return ms >= 0 && ms < 8.64e15 ? iso(ms) : null;
};

/** Returns a language as BCP 47; null if the text is none. */
export const languageTag = (text: string | null | undefined): string | null => {
  const tag = (text ?? '').trim().replaceAll('_', '-');
  return /^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/i.test(tag) ? tag : null;
};
