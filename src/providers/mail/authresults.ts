import { domainToASCII } from 'node:url';

interface MethodResult {
  method: string;
  result: string;
  properties: Map<string, string>;
}

/** `none` if not stated. */
interface AuthenticationResults {
  /** In lower case; null if absent. */
  authservId: string | null;
  spf(): string;
  dkim(domain: string): string;
  dmarc(domain: string): string;
}

const MAX_RESULTS = 100;

/**
 * RFC 8601, 2.2. A method counts only at the start of a clause: comments and quotes may contain
 * text of the sender.
 */
export const resultsIn = (value: string): AuthenticationResults => {
  const [first = '', ...clauses] = bare(value).split(';', MAX_RESULTS + 1);
  const results = clauses.flatMap(resultIn);
  const of = (name: string): MethodResult[] => results.filter(({ method }) => method === name);
  const [, id] = /^"?([a-z0-9._-]{1,253})"?(?: |$)/.exec(first.trim()) ?? [];
  return {
    authservId: id ?? null,
    spf: () => {
      const all = of('spf');
      const ofEnvelope = all.filter(({ properties }) => properties.has('smtp.mailfrom'));
      return combineResults(ofEnvelope.length > 0 ? ofEnvelope : all);
    },
    dkim: (domain) => dkimResult(of('dkim'), domain.toLowerCase()),
    dmarc: (domain) => dmarcResult(of('dmarc'), domain.toLowerCase()),
  };
};

/**
 * Lower case, without (nested) comments, single blanks. Special characters in quotes become `_`.
 */
const bare = (value: string): string => {
  let depth = 0;
  let isQuoted = false;
  let text = '';
  for (let at = 0; at < value.length; at++) {
    const char = value[at] ?? '';
    const isEscape = char === '\\' && (isQuoted || depth > 0);
    if (isEscape) at++;
    else if (!isQuoted && char === '(') depth++;
    else if (depth > 0 && char === ')') depth--;
    if (depth > 0) continue;
    if (isEscape) text += '_';
    else if (char === '"') {
      isQuoted = !isQuoted;
      text += char;
    } else if (isQuoted) text += /[\w.@-]/.test(char) ? char : '_';
    else text += char === ')' ? ' ' : char;
  }
  return text.replace(/\s+/g, ' ').toLowerCase();
};

/** `dkim=pass header.d=example.org`. */
const resultIn = (clause: string): MethodResult[] => {
  const [head = '', ...words] = clause
    .replace(/ ?([=/.]) ?/g, '$1')
    .trim()
    .split(' ');
  const [, method, result] =
    /^([a-z][a-z0-9-]{0,40})(?:\/\d{1,5})?=([a-z]{1,20})$/.exec(head) ?? [];
  if (method === undefined || result === undefined) return [];
  const properties = words.flatMap((word): [string, string][] => {
    const [, name, value] = /^([a-z]+\.[a-z0-9-]+)=(.*)$/.exec(word) ?? [];
    return name === undefined ? [] : [[name, (value ?? '').replaceAll('"', '')]];
  });
  return [{ method, result, properties: new Map(properties) }];
};

/** `pass` only if all pass, else the first failure. */
const combineResults = (results: MethodResult[]): string =>
  (results.find(({ result }) => result !== 'pass') ?? results[0])?.result ?? 'none';

/**
 * A pass counts for the sender's domain, a parent or a subdomain (RFC 7489, 3.1.1), since anybody
 * can sign with their own domain. Without a stated domain all must pass.
 */
const dkimResult = (results: MethodResult[], domain: string): string => {
  const named = results.map((one) => ({ ...one, signer: getSigningDomain(one) }));
  const isOfSender = ({ signer }: { signer: string | null }): boolean =>
    signer !== null && isAligned(signer, domain);
  if (named.some((one) => one.result === 'pass' && isOfSender(one))) return 'pass';
  const others = named.filter((one) => one.result !== 'pass' || one.signer === null);
  return combineResults(others);
};

/** A pass counts for the domain of the sender, also if the server states none (RFC 8601, 2.7.6). */
const dmarcResult = (results: MethodResult[], domain: string): string =>
  combineResults(
    results.map((one) => {
      const from = domainToASCII(one.properties.get('header.from') ?? domain);
      return one.result === 'pass' && (domain === '' || from !== domain)
        ? { ...one, result: 'none' }
        : one;
    }),
  );

const getSigningDomain = ({ properties }: MethodResult): string | null => {
  const identity = properties.get('header.i');
  return properties.get('header.d') ?? identity?.slice(identity.lastIndexOf('@') + 1) ?? null;
};

const isAligned = (signer: string, domain: string): boolean =>
  signer.includes('.') &&
  domain.includes('.') &&
  (signer === domain || domain.endsWith(`.${signer}`) || signer.endsWith(`.${domain}`));
