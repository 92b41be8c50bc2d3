import { isProbablyReaderable, Readability } from '@mozilla/readability';
import { iso } from '../../kernel/clock.js';
import { cleanLine } from './clean.js';
import type { PageFacts } from './page.js';
import { addressIn } from './sanitize.js';
import type { PageDocument, PageElement } from './tree.js';

/** A larger page is not searched for an article, because this would take too long. */
const MAX_SEARCHED = 30_000;
/** Minimum length of an article, in characters. */
const MIN_ARTICLE_LENGTH = 200;

const MAX_TITLE_LENGTH = 4000;

export interface PageContent {
  isArticle: boolean;
  root: PageElement;
  facts: PageFacts;
}

export const extractPageContent = (
  document: PageDocument,
  url: string,
  isWhole: boolean,
): PageContent => {
  const facts = statedFacts(document, url);
  const whole = { isArticle: false, root: document.body, facts };
  if (isWhole || document.querySelectorAll('*').length > MAX_SEARCHED) return whole;
  const page = Object(document);
  if (!isProbablyReaderable(page)) return withoutSurroundings(whole);
  const serializer = (node: unknown): PageElement => Object(node);
  const found = new Readability<PageElement>(page, { serializer }).parse();
  if (!found?.content || (found.length ?? 0) < MIN_ARTICLE_LENGTH)
    return withoutSurroundings(whole);
  return {
    isArticle: true,
    root: found.content,
    facts: {
      ...facts,
      title: cleanLine(found.title, MAX_TITLE_LENGTH) ?? facts.title,
      byline: cleanLine(found.byline, 200) ?? facts.byline,
      siteName: cleanLine(found.siteName, 200) ?? facts.siteName,
      publishedAt: parsePageTime(found.publishedTime) ?? facts.publishedAt,
      excerpt: facts.excerpt ?? cleanLine(found.excerpt, 500),
    },
  };
};

const MAIN_PART = 'main, article, [role="main"]';
const SURROUNDINGS =
  'nav, footer, aside, [role="navigation"], [role="banner"], [role="contentinfo"]';

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
    publishedAt: parsePageTime(
      meta('article:published_time', 'date', 'dc.date', 'datePublished') ??
        attribute('time[datetime]', 'datetime'),
    ),
    language: languageTag(document.documentElement.getAttribute('lang')),
    excerpt: cleanLine(meta('description', 'og:description', 'twitter:description'), 500),
    canonicalUrl: addressIn(attribute('link[rel="canonical"]', 'href'), url),
  };
};

export const parsePageTime = (text: string | null | undefined): string | null => {
  const ms = Date.parse((text ?? '').trim().slice(0, 100));
  return ms >= 0 && ms < 8.64e15 ? iso(ms) : null;
};

/** Returns a BCP 47 tag, or null. */
export const languageTag = (text: string | null | undefined): string | null => {
  const tag = (text ?? '').trim().replaceAll('_', '-');
  return /^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/i.test(tag) ? tag : null;
};
