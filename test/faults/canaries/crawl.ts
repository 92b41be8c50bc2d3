import { resources } from '../../harness/api.js';
import type { Place } from './leaks.js';

/** Replies that never end, or are not about what is kept. */
const LEFT_OUT = ['/api/admin/audit/verify'];

/**
 * Every GET reply of the API that a token gets: lists first, then whatever their members' ids and
 * names lead to.
 */
export const crawl = async (url: string, token: string): Promise<Place[]> => {
  const places: Place[] = [];
  const replies = new Map<string, unknown>();
  const get = async (path: string): Promise<void> => {
    if (replies.has(path)) return;
    const response = await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const text = await response.text();
    const heads = JSON.stringify([...response.headers]);
    places.push({ where: `GET ${path}`, held: Buffer.from(`${response.status} ${heads} ${text}`) });
    replies.set(path, response.status === 200 && isJson(response) ? JSON.parse(text) : null);
  };
  for (const path of paths) {
    await Promise.all(filledIn(path, replies).map(get));
  }
  return places;
};

const isJson = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('application/json') === true;

/** The fewest parameters first: what a longer one needs was listed by a shorter one. */
const paths = resources
  .flatMap(({ contract }) => Object.values(contract))
  .filter(({ method, path }) => method === 'GET' && !LEFT_OUT.includes(path))
  .map(({ path }) => path)
  .concat('/swagger.json', '/metrics', '/health/detailed', '/health/ready')
  .sort((a, b) => a.split('{').length - b.split('{').length);

/** The path with the ids that were listed just above each of its parameters. */
const filledIn = (path: string, replies: Map<string, unknown>): string[] => {
  const [before, ...rest] = path.split(/\/\{\w+\}/);
  return rest.reduce<string[]>(
    (roots, after) =>
      roots.flatMap((root) =>
        keysIn(replies.get(root)).map((key) => `${root}/${encodeURIComponent(key)}${after}`),
      ),
    [before ?? ''],
  );
};

const MOST = 20;

/** The ids, or names, of what a list holds. */
const keysIn = (reply: unknown): string[] => {
  if (typeof reply !== 'object' || reply === null) return [];
  const members = Object.values(reply).find(Array.isArray) ?? [];
  return members.slice(0, MOST).flatMap((member: unknown) => {
    if (typeof member !== 'object' || member === null) return [];
    const key = Reflect.get(member, 'id') ?? Reflect.get(member, 'name');
    return typeof key === 'string' ? [key] : [];
  });
};
