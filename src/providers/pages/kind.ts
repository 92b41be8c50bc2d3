import { withoutDoctype } from './doctype.js';
import type { PageSource } from './page.js';

export type SourceForm =
  | 'html'
  | 'xml'
  | 'feed'
  | 'json'
  | 'text'
  | 'image'
  | 'pdf'
  | 'office'
  | 'unknown';

const BY_TYPE: [RegExp, SourceForm][] = [
  [/^(text\/html|application\/xhtml\+xml)$/, 'html'],
  [/^application\/((rss|atom|rdf)\+xml|feed\+json)$/, 'feed'],
  [/^application\/([a-z0-9.-]+\+)?pdf$/, 'pdf'],
  [/^image\//, 'image'],
  [/^(text|application)\/([a-z0-9.-]+\+)?json$/, 'json'],
  [/^(text|application)\/([a-z0-9.-]+\+)?xml$/, 'xml'],
  [
    /^(application\/(vnd\.(openxmlformats-officedocument|oasis\.opendocument|ms-(excel|word|powerpoint))[a-z0-9.+-]*|msword|rtf|epub\+zip)|text\/rtf)$/,
    'office',
  ],
  [/^(text\/|application\/(x-)?(javascript|yaml|toml|sh|ndjson|jsonlines)$)/, 'text'],
];

/** Signatures, used if the content type is missing, unknown or wrong. */
const BY_BYTES: [RegExp, SourceForm][] = [
  [/^%PDF-/, 'pdf'],
  [/^(\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF....WEBP)/s, 'image'],
  [/^(PK\x03\x04.{26}(\[Content_Types\]|mimetype|_rels)|\xd0\xcf\x11\xe0|\{\\rtf)/s, 'office'],
  [/^\s*<(\?xml|rss|feed|rdf:RDF)[\s>]/, 'xml'],
  [/^\s*<(!doctype\s+html|!--|[a-z][a-z0-9]*[\s>])/i, 'html'],
];
const HTML = /^\s*(<\?xml[^>]*>\s*)?(<!--[^>]*>\s*)*<(!doctype\s+html|html)[\s>]/i;
const JSON_FEED = /^\s*\{[\s\S]*"version"\s*:\s*"https?:(\\?\/){2}jsonfeed\.org(\\?\/)version/;
/** Bytes that do not occur in text. */
const NO_TEXT = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

const TEXTS = new Set<SourceForm>(['html', 'xml', 'feed', 'json', 'text']);
/** Up to this number of control characters, the content still counts as text. */
const MAX_CONTROLS = 10;

const isBinary = (head: string, contentType: string): boolean =>
  !/utf-?16|ucs-?2/i.test(contentType) &&
  !/^(\xff\xfe|\xfe\xff)/.test(head) &&
  (head.match(new RegExp(NO_TEXT, 'g'))?.length ?? 0) > MAX_CONTROLS;

/**
 * Uses the content type, unless the first bytes clearly contradict it. Plain text stays text, such
 * as source code.
 */
export const detectSourceForm = ({ body, contentType }: PageSource): SourceForm => {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const head = Buffer.from(body.subarray(0, 1024))
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '');
  const named = BY_TYPE.find(([pattern]) => pattern.test(type))?.[1];
  const detected = BY_BYTES.find(([pattern]) => pattern.test(head))?.[1];
  if (detected === 'pdf' || (named === undefined && detected && !TEXTS.has(detected)))
    return detected;
  if (named && !TEXTS.has(named)) return named;
  if (isBinary(head, contentType))
    return detected === 'image' || detected === 'office' ? detected : 'unknown';
  // Such as a login page in the place of the feed.
  if (named === 'feed') return HTML.test(head) ? 'html' : named;
  if (named === undefined && NO_TEXT.test(head)) return 'unknown';
  return textForm(named ?? detected ?? 'text', body);
};

/** The format name of a feed is within these bytes. */
const FEED_BYTES = 10_000;

const textForm = (form: SourceForm, body: Uint8Array): SourceForm => {
  const text = Buffer.from(body.subarray(0, FEED_BYTES)).toString('latin1');
  const head = text.replace(/^\xef\xbb\xbf/, '');
  if (isFeed(head) || JSON_FEED.test(head)) return 'feed';
  if ((form === 'xml' || form === 'json') && HTML.test(head)) return 'html';
  return form;
};

export const isFeed = (xml: string): boolean =>
  /^\s*(<\?(?:(?!\?>)[\s\S])*\?>\s*|<!--(?:(?!-->)[\s\S])*-->\s*)*<(rss|(\w+:)?feed|rdf:RDF)[\s>]/i.test(
    withoutDoctype(xml.slice(0, FEED_BYTES).replace(/^\ufeff/, '')),
  );
