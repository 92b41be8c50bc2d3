import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Reply } from './app.js';

interface ForgeRequest {
  method: string;
  path: string;
  authorization: string;
  headers: IncomingHttpHeaders;
  body: Reply['body'];
}

export interface PostedComment {
  id: string;
  /** Path of the request that created it. */
  at: string;
  text: string;
}

export interface Forge {
  url: string;
  /** Value for `egressAllow`. */
  address: string;
  comments: PostedComment[];
  requests: ForgeRequest[];
  /** Handles a request before the forge does, if it returns true. */
  before: (request: ForgeRequest, response: ServerResponse) => boolean;
  close(): void;
}

/** A request of a platform: where it is, its text, and the reply with the id of the comment. */
interface ForgeRoute {
  method: string;
  path: RegExp;
  /** Name of the text in the body. */
  text: string;
  status?: number;
  /** Id of the changed comment, from the path or the body. */
  changes?(request: ForgeRequest, match: RegExpExecArray): string;
  reply(id: string, url: string): object;
}

const comment = (id: string, url: string) => ({
  id: Number(id),
  html_url: `${url}/comment-${id}`,
  user: { login: 'adjutant-bot' },
});
const byPath = (_: ForgeRequest, [, id = '']: RegExpExecArray): string => id;

/** As in the documentation of GitHub, Gitea, GitLab, Jira and Slack. */
const ROUTES: ForgeRoute[] = [
  ...['/api/v3', '/api/v1'].flatMap((api): ForgeRoute[] => [
    {
      method: 'POST',
      path: new RegExp(`^${api}/repos/[^/]+/[^/]+/(?:issues/\\d+|commits/\\w+)/comments$`),
      text: 'body',
      status: 201,
      reply: comment,
    },
    {
      method: 'PATCH',
      path: new RegExp(`^${api}/repos/[^/]+/[^/]+/(?:issues/)?comments/(\\d+)$`),
      text: 'body',
      changes: byPath,
      reply: comment,
    },
  ]),
  {
    method: 'POST',
    path: /^\/api\/v4\/projects\/\d+\/(?:issues|merge_requests)\/\d+\/notes$/,
    text: 'body',
    status: 201,
    reply: (id) => ({ id: Number(id), body: '' }),
  },
  {
    method: 'PUT',
    path: /^\/api\/v4\/projects\/\d+\/(?:issues|merge_requests)\/\d+\/notes\/(\d+)$/,
    text: 'body',
    changes: byPath,
    reply: (id) => ({ id: Number(id), body: '' }),
  },
  {
    method: 'POST',
    path: /^\/api\/v4\/projects\/\d+\/repository\/commits\/\w+\/comments$/,
    text: 'note',
    status: 201,
    reply: () => ({ note: '' }),
  },
  {
    method: 'POST',
    path: /^\/rest\/api\/2\/issue\/[A-Z]+-\d+\/comment$/,
    text: 'body',
    status: 201,
    reply: (id) => ({ id }),
  },
  {
    method: 'PUT',
    path: /^\/rest\/api\/2\/issue\/[A-Z]+-\d+\/comment\/(\d+)$/,
    text: 'body',
    changes: byPath,
    reply: (id) => ({ id }),
  },
  {
    method: 'POST',
    path: /^\/api\/chat\.postMessage$/,
    text: 'text',
    reply: (id) => ({ ok: true, channel: 'C012AB3CD', ts: id }),
  },
  {
    method: 'POST',
    path: /^\/api\/chat\.update$/,
    text: 'text',
    changes: ({ body }) => body.ts,
    reply: (id) => ({ ok: true, ts: id }),
  },
];

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** The documented APIs for comments of all platforms that hooks reply on. */
export const openForge = async (): Promise<Forge> => {
  const server = createServer(async (incoming, response) => {
    const { method = '', url: path = '', headers } = incoming;
    const body = JSON.parse((await text(incoming)) || '{}');
    const request = { method, path, authorization: headers.authorization ?? '', headers, body };
    forge.requests.push(request);
    if (forge.before(request, response)) return;
    if (request.authorization === '') return send(response, 401, { message: 'Bad credentials' });
    if (path === '/graphql') return answerGraphql(forge, request, response);
    const [route, match] = findRoute(request);
    if (!route || !match) return send(response, 404, { message: 'Not Found' });
    const id = route.changes?.(request, match) ?? `${1_000 + forge.comments.length}`;
    const found = forge.comments.find((each) => each.id === id);
    if (route.changes && !found) return send(response, 404, { message: 'Not Found' });
    if (found) found.text = body[route.text];
    else forge.comments.push({ id, at: path, text: body[route.text] });
    send(response, route.status ?? 200, route.reply(id, forge.url));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const listening = server.address();
  if (typeof listening === 'string' || !listening) throw new Error('No address');
  const address = `127.0.0.1:${listening.port}`;
  const forge: Forge = {
    url: `http://${address}`,
    address,
    comments: [],
    requests: [],
    before: () => false,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return forge;
};

const findRoute = ({ method, path }: ForgeRequest): [ForgeRoute?, RegExpExecArray?] => {
  for (const route of ROUTES) {
    const match = route.method === method ? route.path.exec(path) : null;
    if (match) return [route, match];
  }
  return [];
};

/** Linear: errors have status 200. */
const answerGraphql = (forge: Forge, { body, path }: ForgeRequest, response: ServerResponse) => {
  const { issueId, id, body: written } = body.variables;
  const isNew = String(body.query).includes('commentCreate');
  const found = forge.comments.find((each) => each.id === id);
  if (!isNew && !found) {
    return send(response, 200, { errors: [{ message: 'Entity not found: Comment' }] });
  }
  const comment = found ?? { id: `comment-${forge.comments.length}`, at: path, text: '' };
  comment.text = written;
  if (isNew) forge.comments.push({ ...comment, at: `${path} ${issueId}` });
  const reply = { success: true, comment: { id: comment.id, url: `${forge.url}/${comment.id}` } };
  send(response, 200, { data: { [isNew ? 'commentCreate' : 'commentUpdate']: reply } });
};
