import { Parser } from 'htmlparser2';
import { flatHtml, VOID } from './flatten.js';

/** Ours: the most characters of HTML that are shown. To make them safe takes a fraction of a second. */
export const MAX_HTML_LENGTH = 256 * 1024;
/** The most characters that these become. There may be more of them, as some are escaped. */
const MAX_SAFE_LENGTH = 2_000_000;
/** A longer link leads nowhere: the time that sanitizing takes grows with the square of it. */
const MAX_LINK_LENGTH = 4000;

/** Elements that stand for a line or a paragraph. */
const BLOCKS = new Set(
  'address article blockquote br dd div dl dt footer h1 h2 h3 h4 h5 h6 header hr li ol p pre table tr ul'.split(
    ' ',
  ),
);
/** Elements whose text nobody reads. */
const UNREAD = new Set('head title style script noscript template object svg math'.split(' '));
const HIDDEN =
  /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])/i;

/**
 * Returns the text of HTML as a person sees it: without what is hidden, with a line for each block. A
 * link has the address to which it leads behind it, unless it says that itself.
 */
export const textOfHtml = (html: string): string => {
  let text = '';
  /** The open link, and the place at which its text begins. */
  let link: { target: string; start: number } | null = null;
  /** The open elements since the first that is not read. */
  let unread = 0;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      const isVoid = VOID.has(name);
      if (unread > 0 || UNREAD.has(name) || HIDDEN.test(attributes.style ?? '')) {
        if (!isVoid) unread++;
        return;
      }
      if (BLOCKS.has(name)) text += '\n';
      const target = name === 'a' ? targetOf(attributes.href ?? '') : null;
      if (target !== null) link = { target, start: text.length };
    },
    ontext: (more) => {
      if (unread === 0) text += more.replace(/\s+/g, ' ');
    },
    onclosetag: (name) => {
      if (VOID.has(name)) return;
      if (unread > 0) unread--;
      else if (BLOCKS.has(name)) text += '\n';
      else if (name === 'a' && link !== null) {
        const said = text.slice(link.start).trim();
        if (said !== '' && !saysTarget(said, link.target)) text += ` <${link.target}>`;
        link = null;
      }
    },
  });
  parser.end(flatHtml(html.slice(0, MAX_HTML_LENGTH)));
  return text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
};

/** Ours: the most characters of an address that a text shows. */
const SHOWN_LINK = 100;

/** Returns the address of a link as text shows it, without what trackers add to it; null: it leads nowhere. */
const targetOf = (href: string): string | null => {
  if (!LINK.test(href) || href.length > MAX_LINK_LENGTH || !URL.canParse(href)) return null;
  const { protocol, host, pathname, search } = new URL(href);
  const whole = protocol === 'mailto:' ? pathname : `${protocol}//${host}${pathname}`;
  const shown = whole.length > SHOWN_LINK ? `${whole.slice(0, SHOWN_LINK)}…` : whole;
  return search !== '' && protocol !== 'mailto:' ? `${shown}?…` : shown;
};

/** True if the text of a link is its address. */
const saysTarget = (said: string, target: string): boolean => {
  const bare = (text: string): string =>
    text
      .replace(/^https?:\/\//i, '')
      .replace(/(?:\?…|\/)$/, '')
      .toLowerCase();
  return bare(said) === bare(target);
};

/**
 * Makes HTML of others safe to show: no scripts, forms or styles that hide, and nothing that is fetched
 * when it is shown. An image becomes its alternative text, and a link says where it leads. Null: the
 * result is too long to be shown.
 */
export const safeMailHtml = async (html: string): Promise<string | null> => {
  // Loaded at the first use, as few mails are read in HTML.
  const { default: sanitize } = await import('sanitize-html');
  const safe = sanitize(flatHtml(html.slice(0, MAX_HTML_LENGTH)), {
    allowedTags: ALLOWED,
    allowedAttributes: {
      a: ['href', 'title', 'rel'],
      td: ['colspan', 'rowspan'],
      th: ['colspan', 'rowspan'],
    },
    allowedSchemes: ['http', 'https', 'mailto'],
    allowProtocolRelative: false,
    disallowedTagsMode: 'discard',
    nonTextTags: ['style', 'script', 'textarea', 'option', 'noscript', 'title', 'template'],
    transformTags: {
      a: (tagName, { href = '' }) => ({
        tagName,
        attribs: {
          // A relative one would lead to the daemon that shows it.
          ...(LINK.test(href) && href.length <= MAX_LINK_LENGTH && { href, title: href }),
          rel: 'noopener noreferrer nofollow',
        },
      }),
      img: (_, { alt = '' }) => ({ tagName: 'span', attribs: {}, text: alt ? `[${alt}]` : '' }),
    },
    exclusiveFilter: ({ tag, text }) => tag === 'span' && text.trim() === '',
  });
  return safe.length > MAX_SAFE_LENGTH ? null : safe;
};

const LINK = /^(?:https?|mailto):/i;
const ALLOWED =
  'a abbr b blockquote br caption code col colgroup dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i ins li ol p pre q s small span strong sub sup table tbody td tfoot th thead tr u ul'.split(
    ' ',
  );
