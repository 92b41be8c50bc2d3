import { createRequire } from 'node:module';
import Hapi from '@hapi/hapi';
import Joi from 'joi';
import { type ApiResource, loadResources } from '../api.js';
import type { Endpoint } from '../kernel/contract/endpoint.js';
import { type Document, tidyDocument } from '../kernel/openapi.js';
import { Problem, ScimError } from '../kernel/problem.js';
import { getSuccessStatus } from '../kernel/route.js';
import type { RouteGroup } from './lazyroutes.js';
import { filesGroup, type ServedFile } from './pages.js';

const TITLE = 'Adjutant';
const ASSETS = '/swaggerui/';
const FILES = [
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
  ['favicon-32x32.png', 'image/png'],
] as const;

export const DOCUMENT_FILE = new URL('./swagger.json', import.meta.url);

/** Only files of this daemon, no inline scripts. */
const CSP =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const resolveSwaggerAsset = (file: string): string => {
  const { resolve } = createRequire(import.meta.url);
  return createRequire(resolve('hapi-swagger')).resolve(`swagger-ui-dist/${file}`);
};

const own = (path: string, type: string, at: URL): ServedFile => {
  const headers = { 'content-security-policy': CSP };
  return { path, type, at: () => at, headers };
};

/**
 * Serves prebuilt files, because generating the document would block the event loop for seconds.
 */
export const explorer: RouteGroup = filesGroup([
  own('/swagger.json', 'application/json', DOCUMENT_FILE),
  own('/swagger', 'text/html', new URL('./swagger/page.html', import.meta.url)),
  own('/swagger/page.css', 'text/css', new URL('./swagger/page.css', import.meta.url)),
  own('/swagger/page.js', 'text/javascript', new URL('./swagger/page.js', import.meta.url)),
  ...FILES.map(([file, type]) => ({
    path: `${ASSETS}${file}`,
    type,
    at: () => resolveSwaggerAsset(file),
    headers: { 'cache-control': 'max-age=3600' },
  })),
]);

export const describeApi = async (version: string): Promise<Document> => {
  const [inert, vision, swagger] = await Promise.all([
    import('@hapi/inert'),
    import('@hapi/vision'),
    import('hapi-swagger'),
  ]);
  const server = Hapi.server({ debug: false });
  await server.register([
    inert.default,
    vision.default,
    { plugin: swagger.default, options: buildSwaggerOptions(version) },
  ]);
  const resources = await loadResources();
  const endpoints = listed(resources);
  for (const one of endpoints) server.route(documented(one));
  await server.initialize();
  const { payload } = await server.inject('/swagger.json');
  const byId = new Map(endpoints.map(({ id, endpoint }) => [id, endpoint]));
  return { ...tidyDocument(JSON.parse(payload), byId), tags: resources.map(buildTag) };
};

const buildTag = ({ name, about }: ApiResource) => ({ name, description: about });

const buildSwaggerOptions = (version: string) => ({
  OAS: 'v3.0',
  info: {
    title: TITLE,
    version,
    description:
      'A self-hosted backend for AI assistants. Log in with `POST /api/auth/login`, then put the ' +
      'token under **Authorize**.',
  },
  documentationPage: false,
  jsonPath: '/swagger.json',
  swaggerUIPath: ASSETS,
  routesBasePath: ASSETS,
  grouping: 'tags',
  securityDefinitions: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  security: [{ bearer: [] }],
});

interface ListedEndpoint {
  id: string;
  area: string;
  endpoint: Endpoint;
}

const listed = (resources: ApiResource[]): ListedEndpoint[] =>
  resources.flatMap(({ name, contract }) =>
    Object.entries(contract).map(([verb, endpoint]) => ({
      id: `${name}.${verb}`,
      area: name,
      endpoint,
    })),
  );

const documented = ({ id, area, endpoint }: ListedEndpoint) => ({
  method: endpoint.method,
  path: endpoint.path,
  options: {
    id,
    description: endpoint.summary,
    ...(endpoint.description !== undefined && { notes: endpoint.description }),
    tags: ['api', area],
    plugins: { 'hapi-swagger': { id, responses: buildResponses(endpoint) } },
    validate: {
      ...paramsRule(endpoint.path),
      ...(endpoint.query && { query: endpoint.query }),
      ...(endpoint.body && { payload: endpoint.body }),
      ...(endpoint.form && { payload: endpoint.form.fields }),
      ...(endpoint.rawBytes !== undefined && { payload: Joi.object().unknown().label('Payload') }),
    },
    handler: () => null,
  },
});

const paramsRule = (path: string) => {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  if (names.length === 0) return {};
  return {
    params: Joi.object(Object.fromEntries(names.map((name) => [name, Joi.string().required()]))),
  };
};

const buildResponses = (endpoint: Endpoint) => {
  const success = getSuccessStatus(endpoint);
  const description = success === 201 ? 'Created' : success === 202 ? 'Accepted' : 'Success';
  const done = { description, schema: endpoint.reply ?? Joi.any() };
  const otherReplies = Object.entries(endpoint.otherReplies ?? {});
  return Object.fromEntries([
    [success, done],
    ...listErrorStatuses(endpoint).map((status) => [
      status,
      { description: STATUS_DESCRIPTIONS[status], schema: endpoint.scim ? ScimError : Problem },
    ]),
    ...otherReplies.map(([status, schema]) => [
      status,
      { description: describeOtherReply(endpoint, Number(status)), schema },
    ]),
  ]);
};

const describeOtherReply = ({ rawBytes }: Endpoint, status: number) =>
  status === 200 && rawBytes !== undefined
    ? 'Success, but no hook was started: a duplicate delivery, a verification request, or no enabled hook'
    : OTHER_REPLY_DESCRIPTIONS[status];

const OTHER_REPLY_DESCRIPTIONS: Record<number, string> = {
  200: 'Success. Nothing was started, for example because of `dryRun`',
  201: 'Created',
  202: 'Accepted, but not finished yet',
  503: 'The daemon does not accept work. `failing` lists the reasons',
};

const listErrorStatuses = ({ access, method, path, query, ...more }: Endpoint): number[] => {
  const { body = more.form?.fields, rawBytes, needsPermission = false, scim = false } = more;
  const isOpen = access === 'public' || access === 'optional';
  const asksWho = access !== 'public' || body !== undefined || rawBytes !== undefined;
  return [
    ...(body || query || rawBytes ? [400] : []),
    ...(asksWho ? [401] : []),
    ...(access === 'admin' || needsPermission || scim || (isOpen && body) ? [403] : []),
    ...(path.includes('{') ? [404] : []),
    ...(method === 'GET' || rawBytes ? [] : [409]),
    ...(scim && path.includes('{') && method !== 'GET' ? [412] : []),
    ...(body || rawBytes ? [413, 415] : []),
    ...(isOpen && method === 'GET' ? [] : [429]),
    503,
  ];
};

const STATUS_DESCRIPTIONS: Record<number, string> = {
  400: 'Invalid input. `details` lists each invalid field',
  401: 'Missing or invalid credentials',
  403: 'Insufficient permissions',
  404: 'Not found, or not accessible to you',
  409: 'Conflict with the current state of the resource. `message` describes the conflict',
  412: 'The resource was changed: `If-Match` has another version',
  413: 'Request body too large',
  415: 'Unsupported content type',
  429: 'Too many requests. See `Retry-After`',
  503: 'The database is not writable, or the daemon is shutting down. See `Retry-After`',
};
