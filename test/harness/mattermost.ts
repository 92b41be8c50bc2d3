import type { ServerResponse } from 'node:http';
import { type ServedFile, serveFile, sizeOf } from './servedfile.js';
import { openTarget } from './target.js';

export const BOT_TOKEN = 'x8gsf1e6mpgbzk3bzpzbh5s3pr';
/** Example of Mattermost's documentation. */
export const COMMAND_TOKEN = 'qzgakf1nx3yt9dr4n8585ihbxy';
export const ADA = { id: 'erj6qck3rfgtujs86w5r6rckzh', name: 'alan' };
const BOT_ID = 'h7w4z1kq3jnxtmb5d8c9r2yf6a';
const DIRECT_ID = 'd1r3ctchann3lofthebotandan';

/** The used part of the REST API for a bot. */
export const openMattermost = async () => {
  const target = await openTarget();
  const posts: Record<string, unknown>[] = [];
  const direct: string[][] = [];
  const refusals: ((response: ServerResponse) => void)[] = [];
  const files = new Map<string, ServedFile>();
  target.answer = (response, nth) => {
    const { method, path, headers, body } = target.received[nth - 1] ?? {};
    if (headers?.authorization !== `Bearer ${BOT_TOKEN}`) return refuse(401)(response);
    const refusal = path === '/api/v4/posts' ? refusals.shift() : undefined;
    if (refusal) return refusal(response);
    const asked = `${method} ${path}`;
    if (asked === 'GET /api/v4/users/me') {
      return say(response, 200, { id: BOT_ID, username: 'adjutant', is_bot: true });
    }
    const [, id = '', isInfo] = /^GET \/api\/v4\/files\/(\w{26})(\/info)?$/.exec(asked) ?? [];
    const file = files.get(id);
    if (file && isInfo) {
      const { name = `${id}.txt`, mime: mime_type = 'text/plain' } = file;
      return say(response, 200, { id, name, size: sizeOf(file), mime_type });
    }
    if (file) return serveFile(response, file);
    if (asked === 'POST /api/v4/channels/direct') {
      direct.push(JSON.parse(body ?? ''));
      return say(response, 201, { id: DIRECT_ID, type: 'D' });
    }
    if (asked !== 'POST /api/v4/posts') return refuse(404)(response);
    const post: Record<string, unknown> = JSON.parse(body ?? '');
    const { length } = [...String(post.message)];
    // The server limits the characters of a message and the bytes of its properties.
    const isTooLong = length > 16_383 || JSON.stringify(post.props ?? {}).length > 8_000;
    if (length === 0 || isTooLong) return refuse(400)(response);
    posts.push(post);
    say(response, 201, { ...post, id: `post${posts.length}`, user_id: BOT_ID });
  };
  return {
    baseUrl: target.url,
    address: target.address,
    files,
    posts,
    /** User pairs of the requested direct channels. */
    direct,
    /** Next replies to posts, one each. */
    refuse: (...next: ((response: ServerResponse) => void)[]) => void refusals.push(...next),
    close: target.close,
  };
};

export const refuse =
  (status: number, headers = {}) =>
  (response: ServerResponse): void =>
    say(
      response,
      status,
      { id: 'api.refused', message: 'refused', request_id: 'r1', status_code: status },
      headers,
    );

/** Slash command as Mattermost posts it. */
export const command = (
  name: string,
  text: string,
  { token = COMMAND_TOKEN, trigger = 'ZWZ5ZjRndzR4Y', user = ADA.id } = {},
) => ({
  headers: {
    accept: 'application/json',
    authorization: `Token ${token}`,
    'content-type': 'application/x-www-form-urlencoded',
    'user-agent': 'Mattermost-Bot/1.1',
  },
  body: new URLSearchParams({
    channel_id: 'fukxanjgjbnp7ng383at53k1sy',
    channel_name: 'town-square',
    command: `/${name}`,
    response_url: 'http://localhost:8065/hooks/commands/i11f6nnfgfyk8eg56x9omc6dpa',
    team_domain: 'team-awesome',
    team_id: 'wx4zz8t4ttgmtxqiwfohijayzc',
    text,
    token,
    trigger_id: trigger,
    user_id: user,
    user_name: ADA.name,
  }).toString(),
});

/** Post of an outgoing webhook, as a form or as JSON. */
export const post = (
  text: string,
  { token = COMMAND_TOKEN, id = 'g19wczuo4tn6unyjx5qrwcd5mo', isJson = true, files = '' } = {},
) => {
  const fields = {
    token,
    team_id: 'wx4zz8t4ttgmtxqiwfohijayzc',
    team_domain: 'team-awesome',
    channel_id: 'fukxanjgjbnp7ng383at53k1sy',
    channel_name: 'town-square',
    user_id: ADA.id,
    user_name: ADA.name,
    post_id: id,
    text,
    trigger_word: text.startsWith('adjutant') ? 'adjutant' : '',
    file_ids: files,
  };
  return {
    headers: {
      'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
      'user-agent': 'Mattermost-Bot/1.1',
    },
    body: isJson
      ? JSON.stringify({ ...fields, timestamp: 1649958010052 })
      : new URLSearchParams(fields).toString(),
  };
};

interface Action {
  id: string;
  integration: { url: string; context: Record<string, unknown> };
}

/** Buttons as stored by the server. Clients never see what they send. */
export const buttonsOf = (post: Record<string, unknown> | undefined): Action[] =>
  JSON.parse(JSON.stringify(post?.props ?? { attachments: [{ actions: [] }] })).attachments[0]
    .actions;

/** A pressed button, as passed on by the server. */
export const pressed = (
  context: Record<string, unknown>,
  { user = ADA.id, trigger = 'dHJpZ2dlcg' } = {},
) => ({
  headers: { 'content-type': 'application/json', 'user-agent': 'Mattermost-Bot/1.1' },
  body: JSON.stringify({
    ...{ user_id: user, user_name: ADA.name, channel_id: DIRECT_ID, channel_name: 'direct' },
    ...{ team_id: '', team_domain: '', post_id: 'post1', trigger_id: trigger },
    ...{ type: 'button', data_source: '', context },
  }),
});

const say = (response: ServerResponse, status: number, body: object, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};
