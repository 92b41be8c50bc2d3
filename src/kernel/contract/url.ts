/** Blanks, and marks that are not visible. */
const AROUND = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu;
/** As in Slack with a label, in Markdown, in mails, and in quotes. */
const WRAPPED = [
  /^<([^<>|]+)\|[^<>]*>$/,
  /^\[[^\]]*\]\((.+)\)$/,
  /^<([^<>]+)>$/,
  /^["'`\u201c\u201e\u00ab](.+)["'`\u201c\u201d\u00bb]$/,
];

const unwrapped = (text: string): string => {
  const bare = text.replace(AROUND, '');
  return WRAPPED.map((form) => form.exec(bare)?.[1]).find((url) => url !== undefined) ?? bare;
};

/**
 * A URL as people paste it, with its scheme and host in the form of the WHATWG URL standard:
 * ` HTTPS://Bücher.example/x` is `https://xn--bcher-kva.example/x`. The rest stays as it is, because
 * it may contain placeholders. Other text stays unchanged.
 */
export const normalizeUrl = (text: string): string => {
  const bare = unwrapped(text);
  const [origin] = /^https?:\/\/[^/?#\\\s{}@]+/i.exec(bare) ?? [];
  if (origin === undefined) return /^https?:/i.test(bare) ? bare : text;
  return URL.canParse(origin) ? `${new URL(origin).origin}${bare.slice(origin.length)}` : bare;
};

/** A host, optionally with a port, as ASCII in lower case. Other text stays unchanged. */
export const normalizeHost = (text: string): string => {
  const bare = unwrapped(text);
  const url = /[/?#\\\s@]/.test(bare) || !URL.canParse(`ftp://${bare}`) ? null : `ftp://${bare}`;
  return url === null ? text : new URL(url).host;
};

/** Whether a host of a parsed URL can be a name in DNS (RFC 1035, 2.3.4), or is an address. */
export const isHostName = (hostname: string): boolean =>
  hostname.length <= 254 &&
  hostname
    .replace(/\.$/, '')
    .split('.')
    .every((label) => label !== '' && label.length <= 63);
