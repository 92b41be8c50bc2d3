import { isSecretName, printableLine, quote } from './quote.js';

const LINES = 15;
const VALUE_CHARACTERS = 160;
/** Limits of the search, so that any payload takes milliseconds. */
const VALUES_SEEN = 5000;
const KEYS_SEEN = 200;
const ITEMS_SEEN = 3;
const DEPTH = 7;
/** Maximum lines per name. */
const PER_NAME = 3;

/** Field names by importance. Each row is one rank. */
const RANKS = [
  'title subject alertname summary headline',
  'number iid merged conclusion',
  'action status state severity priority outcome level object_kind',
  'ref branch head_branch source_branch target_branch tag_name environment version',
  'draft livemode reason error failure_message failure_code',
  'amount amount_due amount_paid amount_refunded total currency price quantity',
  'full_name path_with_namespace login username user_name email customer_email customer',
  'message description body text note comment name instance job receiver',
  'html_url web_url url permalink compare externalURL generatorURL target_url',
  'commits alerts items labels assignees comments additions deletions changed_files',
  'created_at updated_at startsAt endsAt merged_at closed_at timestamp created',
  'id sha after',
].map((row) => row.split(' '));
const RANK_OF = new Map(RANKS.flatMap((row, rank) => row.map((name) => [name, rank] as const)));

/** Fields about the place and the people, not the event. */
const SURROUNDINGS = new Set(
  'repository repo project sender user owner author actor pusher committer creator organization installation assignee enterprise milestone request'.split(
    ' ',
  ),
);
const WRAPPERS = new Set(['data', 'object', 'payload', 'object_attributes', 'attributes']);
/** Left out if one of the better names exists. */
const BETTER = new Map([
  ['url', ['html_url', 'web_url']],
  ['name', ['full_name', 'path_with_namespace']],
]);
const NOISE = /^(_links|reactions|permissions|node_id|gravatar_id)$|_url$/;
/** Lists in which any name or value may be a secret. */
const SETTINGS = /^(variables|env|environment_variables|headers|cookies)$/i;

interface JsonPosition {
  path: string;
  name: string;
  depth: number;
  penalty: number;
}
interface ExtractedLine extends JsonPosition {
  shown: string;
  score: number;
}

/**
 * Returns at most 15 fields as `path: value`. Text is quoted and shortened, arrays are shown as
 * counts, and fields with secret names are skipped.
 */
export const extractFields = (payload: unknown): string[] =>
  choose(search(payload))
    .slice(0, LINES)
    .map(({ path, shown }) => `${path}: ${shown}`);

/** Breadth first, so that a large payload does not hide the top fields. */
const search = (payload: unknown): ExtractedLine[] => {
  const found: ExtractedLine[] = [];
  const queue: [JsonPosition, unknown][] = [
    [{ path: '', name: '', depth: 0, penalty: 0 }, payload],
  ];
  for (let next = 0; next < Math.min(queue.length, VALUES_SEEN); next++) {
    const [place, value] = queue[next] ?? [];
    if (!place) continue;
    const shown = show(value);
    if (shown !== null && place.depth > 0)
      found.push({ ...place, shown, score: scorePosition(place) });
    if (place.depth < DEPTH) queue.push(...within(place, value));
  }
  return found;
};

const choose = (found: ExtractedLine[]): ExtractedLine[] => {
  const seen = new Set<string>();
  const named = new Map<string, number>();
  return found
    .sort((a, b) => a.score - b.score)
    .filter(({ name, shown }) => {
      const times = named.get(name) ?? 0;
      if (times >= PER_NAME || seen.has(`${name}: ${shown}`)) return false;
      seen.add(`${name}: ${shown}`);
      named.set(name, times + 1);
      return true;
    });
};

const show = (value: unknown): string | null => {
  if (Array.isArray(value)) return `${value.length} ${value.length === 1 ? 'item' : 'items'}`;
  if (typeof value === 'boolean') return String(value);
  // A whole number beyond 2^53 has lost digits.
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? null : String(value);
  if (typeof value !== 'string' || value.trim() === '') return null;
  const isLink = /^https?:\/\/[^\s"<>]+$/.test(value);
  return isLink ? printableLine(value, VALUE_CHARACTERS) : quote(value, VALUE_CHARACTERS);
};

const scorePosition = ({ name, depth, penalty }: JsonPosition): number =>
  5 * (RANK_OF.get(name) ?? RANKS.length) + 4 * depth + penalty;

const within = (place: JsonPosition, value: unknown): [JsonPosition, unknown][] => {
  if (Array.isArray(value))
    return value
      .slice(0, ITEMS_SEEN)
      .map((item, at) => [{ ...place, path: `${place.path}[${at}]`, ...deeper(place, 8) }, item]);
  if (typeof value !== 'object' || value === null) return [];
  if (isSecretPair(value)) return [];
  return Object.keys(value)
    .slice(0, KEYS_SEEN)
    .filter((name) => !isSecretName(name) && !isNoise(name, value))
    .map((name) => [
      {
        path: place.path + segment(name, place.path === ''),
        name,
        ...deeper(place, getNameWeight(name)),
      },
      Reflect.get(value, name),
    ]);
};

/** Such as `{ "name": "API_KEY", "value": "…" }`. */
const isSecretPair = (pair: object): boolean =>
  'value' in pair &&
  ['name', 'key'].some((name) => {
    const label: unknown = Reflect.get(pair, name);
    return typeof label === 'string' && isSecretName(label);
  });

const isNoise = (name: string, within: object): boolean =>
  SETTINGS.test(name) ||
  (NOISE.test(name) && !RANK_OF.has(name)) ||
  (BETTER.get(name) ?? []).some((better) => Object.hasOwn(within, better));

const getNameWeight = (name: string): number => {
  if (WRAPPERS.has(name)) return -4;
  return SURROUNDINGS.has(name) ? 12 : 0;
};

const deeper = ({ depth, penalty }: JsonPosition, more: number) => ({
  depth: depth + 1,
  penalty: penalty + more,
});

/** Prevents a name from being read as a path or a value. */
const segment = (name: string, isFirst: boolean): string => {
  if (!/^[\w$-]{1,60}$/.test(name)) return `[${quote(name, 60)}]`;
  return isFirst ? name : `.${name}`;
};
