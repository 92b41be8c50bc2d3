import { Parser } from 'htmlparser2';
import { flatHtml, VOID } from './flatten.js';

/** Sanitizing so much takes a fraction of a second. */
export const MAX_HTML_LENGTH = 256 * 1024;
/** Escaping can make the result longer. */
const MAX_SAFE_LENGTH = 2_000_000;
/** Sanitizing time grows with the square of the link length. */
const MAX_LINK_LENGTH = 4000;

/** Characters that change the text direction, so that a link could look like another one. */
const DIRECTIONS = /\p{Bidi_Control}/gu;

/** In a URL they are shown by their codes. */
export const encodeDirections = (url: string): string =>
  url.replace(DIRECTIONS, encodeURIComponent);

const BLOCKS = new Set(
  'address article blockquote br dd div dl dt footer h1 h2 h3 h4 h5 h6 header hr li ol p pre table tr ul'.split(
    ' ',
  ),
);
const CELLS = new Set(['td', 'th']);
const HIDDEN_ELEMENTS = new Set(
  'head title style script noscript template object svg math'.split(' '),
);
const HIDDEN =
  /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])/i;

/**
 * Without hidden text, one line per block, a space between cells of a table. A link is followed by its URL unless its text is the
 * URL.
 */
export const textOfHtml = (html: string): string => {
  let text = '';
  let link: { target: string; start: number } | null = null;
  let unread = 0;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      const isVoid = VOID.has(name);
      if (unread > 0 || HIDDEN_ELEMENTS.has(name) || HIDDEN.test(attributes.style ?? '')) {
        if (!isVoid) unread++;
        return;
      }
      if (BLOCKS.has(name)) text += '\n';
      else if (CELLS.has(name) && text !== '' && !/\s/.test(text.charAt(text.length - 1)))
        text += ' ';
      const target = name === 'a' ? formatLinkTarget(attributes.href ?? '') : null;
      if (target !== null) link = { target, start: text.length };
    },
    ontext: (more) => {
      if (unread === 0) text += more.replace(DIRECTIONS, '').replace(/\s+/g, ' ');
    },
    onclosetag: (name) => {
      if (VOID.has(name)) return;
      if (unread > 0) unread--;
      else if (BLOCKS.has(name)) text += '\n';
      else if (name === 'a' && link !== null) {
        const content = text.slice(link.start).trim();
        if (content !== '' && !isTargetText(content, link.target)) text += ` <${link.target}>`;
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

const SHOWN_LINK = 100;

/** Without tracking parameters; null: no target. */
const formatLinkTarget = (href: string): string | null => {
  if (!LINK.test(href) || href.length > MAX_LINK_LENGTH || !URL.canParse(href)) return null;
  const { protocol, host, pathname, search } = new URL(href);
  const whole = protocol === 'mailto:' ? pathname : `${protocol}//${host}${pathname}`;
  const shown = whole.length > SHOWN_LINK ? `${whole.slice(0, SHOWN_LINK)}…` : whole;
  return search !== '' && protocol !== 'mailto:' ? `${shown}?…` : shown;
};

const isTargetText = (content: string, target: string): boolean => {
  const bare = (text: string): string =>
    text
      .replace(/^https?:\/\//i, '')
      .replace(/(?:\?…|\/)$/, '')
      .toLowerCase();
  return bare(content) === bare(target);
};

/**
 * No scripts, forms, hiding styles, direction changes or remote content. Images become their alternative text, links
 * show their target. null: too long.
 */
export const safeMailHtml = async (html: string): Promise<string | null> => {
  // Loaded on first use: few mails are read as HTML.
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
      a: (tagName, attributes) => {
        const href = encodeDirections(attributes.href ?? '');
        return {
          tagName,
          attribs: {
            // A relative link would lead to this daemon.
            ...(LINK.test(href) && href.length <= MAX_LINK_LENGTH && { href, title: href }),
            rel: 'noopener noreferrer nofollow',
          },
        };
      },
      img: (_, { alt = '' }) => ({ tagName: 'span', attribs: {}, text: alt ? `[${alt}]` : '' }),
    },
    exclusiveFilter: ({ tag, text }) => tag === 'span' && text.trim() === '',
  });
  return safe.length > MAX_SAFE_LENGTH ? null : safe.replace(DIRECTIONS, '');
};

const LINK = /^(?:https?|mailto):/i;
const ALLOWED =
  'a abbr b blockquote br caption code col colgroup dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i ins li ol p pre q s small span strong sub sup table tbody td tfoot th thead tr u ul'.split(
    ' ',
  );
