import { Parser } from 'htmlparser2';
import { detectSourceForm } from './kind.js';
import type { PageSource } from './page.js';

/** A slower redirect is meant for pages that are read first. In seconds. */
const MAX_DELAY_S = 10;
const MAX_HEAD_BYTES = 64 * 1024;

/**
 * Returns the target of a `Refresh` header or `meta` element, or null. Refreshes in `noscript` are
 * ignored, because such pages usually have a text.
 */
export const refreshTarget = (page: PageSource, header: string | undefined): URL | null => {
  if (detectSourceForm(page) !== 'html') return null;
  const stated: MetaRefresh = header === undefined ? metaRefresh(page) : { content: header };
  const { content, base } = stated;
  const address = content === undefined ? null : parseRefreshAddress(content);
  if (address === null) return null;
  const isBase = base !== undefined && URL.canParse(base, page.url);
  const from = isBase ? new URL(base, page.url).href : page.url;
  if (!URL.canParse(address, from)) return null;
  const target = new URL(address, from);
  return target.protocol === 'http:' || target.protocol === 'https:' ? target : null;
};

const parseRefreshAddress = (content: string): string | null => {
  const [, seconds = '', rest = ''] =
    /^\s*(\d*)(?:\.[\d.]*)?\s*[;,\s]\s*(.*)$/s.exec(content) ?? [];
  if (Number(seconds) > MAX_DELAY_S) return null;
  const address = rest.replace(/^url\s*=\s*/i, '').trim();
  const quoted = /^(["'])(.*?)(?:\1|$)/s.exec(address);
  return (quoted ? quoted[2]?.trim() : address) || null;
};

interface MetaRefresh {
  content?: string;
  base?: string;
}

const metaRefresh = ({ body }: PageSource): MetaRefresh => {
  const found: MetaRefresh = {};
  let unread = 0;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      if (UNREAD.has(name)) unread++;
      if (unread > 0) return;
      if (name === 'base') found.base ??= attributes.href;
      const isRefresh = /^\s*refresh\s*$/i.test(attributes['http-equiv'] ?? '');
      if (name === 'meta' && isRefresh) found.content ??= attributes.content;
    },
    onclosetag: (name) => {
      if (UNREAD.has(name)) unread--;
    },
  });
  parser.end(Buffer.from(body.subarray(0, MAX_HEAD_BYTES)).toString('utf8'));
  return found;
};

const UNREAD = new Set(['noscript', 'template', 'svg', 'iframe', 'noembed', 'noframes']);
