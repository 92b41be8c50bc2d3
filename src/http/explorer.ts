import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Server } from '@hapi/hapi';
import Hapi from '@hapi/hapi';
import Joi from 'joi';
import { resources } from '../api.js';
import type { Endpoint } from '../kernel/contract/endpoint.js';
import { type Document, tidyDocument } from '../kernel/openapi.js';
import { Problem } from '../kernel/problem.js';
import { successOf } from '../kernel/route.js';

const TITLE = 'Adjutant';
const ASSETS = '/swaggerui/';
/** Files of the library that the page needs. */
const FILES = [
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
  ['favicon-32x32.png', 'image/png'],
] as const;

/**
 * Serves `/swagger` and `/swagger.json` from files that the build and the library provide. To
 * generate the document would block the event loop for seconds.
 */
export const addExplorer = (server: Server): void => {
  const get = (path: string, type: string, read: () => Promise<string | Buffer>): void =>
    server.route({
      method: 'GET',
      path,
      options: { auth: false },
      handler: async (_request, h) =>
        h
          .response(await read())
          .type(type)
          .header('content-security-policy', CSP),
    });
  get('/swagger.json', 'application/json', () => readFile(DOCUMENT_FILE));
  get('/swagger', 'text/html', async () => PAGE);
  get('/swagger/page.css', 'text/css', async () => STYLE);
  get('/swagger/page.js', 'text/javascript', async () => SCRIPT);
  for (const [file, type] of FILES) {
    server.route({
      method: 'GET',
      path: `${ASSETS}${file}`,
      options: { auth: false },
      handler: async (_request, h) =>
        h
          .response(await readFile(assetOf(file)))
          .type(type)
          .header('cache-control', 'max-age=3600'),
    });
  }
};

/** The API document, which the build writes beside this file. */
export const DOCUMENT_FILE = new URL('./swagger.json', import.meta.url);

/**
 * Returns the path of a file of the explorer, which comes with hapi-swagger, wherever that is
 * installed.
 */
const assetOf = (file: string): string => {
  const { resolve } = createRequire(import.meta.url);
  return createRequire(resolve('hapi-swagger')).resolve(`swagger-ui-dist/${file}`);
};

/** Allows only files of this daemon, and no inline scripts. */
const CSP =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${TITLE} API</title>
    <link rel="icon" href="${ASSETS}favicon-32x32.png">
    <link rel="stylesheet" href="${ASSETS}swagger-ui.css">
    <link rel="stylesheet" href="/swagger/page.css">
  </head>
  <body>
    <div id="explorer"></div>
    <script src="${ASSETS}swagger-ui-bundle.js"></script>
    <script src="/swagger/page.js"></script>
  </body>
</html>
`;

const SCRIPT = `SwaggerUIBundle({
  url: '/swagger.json',
  dom_id: '#explorer',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const STYLE = `body { margin: 0; background: #fbfbfc; }
.swagger-ui { font-family: system-ui, sans-serif; }
.swagger-ui .wrapper { max-width: 1100px; }
.swagger-ui .info { margin: 28px 0 8px; }
.swagger-ui .info .title { font-weight: 650; }
.swagger-ui .scheme-container { padding: 12px 0; background: none; box-shadow: none; }
.swagger-ui .filter .operation-filter-input { margin: 0 0 12px; border: 1px solid #d5d9e0; }
.swagger-ui .opblock-tag { font-size: 17px; border-bottom-color: #e6e8ec; }
.swagger-ui .opblock-tag > a { flex: 0 0 150px; }
.swagger-ui .opblock-tag small { padding: 0; }
.swagger-ui .opblock-tag small p { margin: 0; }
.swagger-ui .opblock { box-shadow: none; border-radius: 6px; margin: 0 0 8px; }
.swagger-ui .opblock .opblock-summary-path { font-size: 14px; }
`;

/** Generates the API document from the contracts. */
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
    { plugin: swagger.default, options: optionsOf(version) },
  ]);
  const endpoints = listed();
  for (const one of endpoints) server.route(documented(one));
  await server.initialize();
  const { payload } = await server.inject('/swagger.json');
  const byId = new Map(endpoints.map(({ id, endpoint }) => [id, endpoint]));
  return { ...tidyDocument(JSON.parse(payload), byId), tags: tagsOf(endpoints) };
};

/** Lists each area once, with its description. */
const tagsOf = (endpoints: ListedEndpoint[]) => {
  const known = new Map(resources.map(({ name, about }) => [name, about]));
  const areas = new Set(endpoints.map(({ area }) => area));
  return [...areas].map((name) => ({ name, description: known.get(name) ?? NOT_BUILT }));
};

const NOT_BUILT = 'Not built yet';

const optionsOf = (version: string) => ({
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
  /** Area and verb, unique in the document, as in `hooks.enable`. */
  id: string;
  area: string;
  endpoint: Endpoint;
}

const listed = (): ListedEndpoint[] =>
  resources.flatMap(({ name, contract }) =>
    Object.entries(contract).map(([verb, endpoint]) =>
      endpoint.unbuilt ? unbuilt(endpoint) : { id: `${name}.${verb}`, area: name, endpoint },
    ),
  );

/**
 * Builds the id of an endpoint that is not built and has no verb yet: `GET /api/models/{name}` is
 * `models.get-by-name`.
 */
const unbuilt = (endpoint: Endpoint): ListedEndpoint => {
  const [area = '', ...rest] = endpoint.path.split('/').slice(2);
  const words = rest.map((part) => part.replace(/^\{(\w+)\}$/, 'by-$1'));
  return { id: `${area}.${[endpoint.method.toLowerCase(), ...words].join('-')}`, area, endpoint };
};

/** Builds a route for documentation only: the contract's schemas and the possible errors. */
const documented = ({ id, area, endpoint }: ListedEndpoint) => ({
  method: endpoint.method,
  path: endpoint.path,
  options: {
    id,
    description: endpoint.unbuilt ? `${endpoint.summary} (not built yet)` : endpoint.summary,
    tags: ['api', area],
    plugins: { 'hapi-swagger': { id, responses: responsesOf(endpoint) } },
    validate: {
      ...paramsRule(endpoint.path),
      ...(endpoint.query && { query: endpoint.query }),
      ...(endpoint.body && { payload: endpoint.body }),
      ...(endpoint.rawBytes !== undefined && { payload: Joi.object().unknown().label('Payload') }),
    },
    handler: () => null,
  },
});

/** Declares every path parameter as text; the handler checks its value. */
const paramsRule = (path: string) => {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  if (names.length === 0) return {};
  return {
    params: Joi.object(Object.fromEntries(names.map((name) => [name, Joi.string().required()]))),
  };
};

const responsesOf = (endpoint: Endpoint) => {
  const done = { description: 'Done', schema: endpoint.reply ?? Joi.any() };
  const answers = Object.entries(endpoint.answers ?? {});
  return Object.fromEntries([
    ...(endpoint.unbuilt ? [] : [[successOf(endpoint), done]]),
    ...errorsOf(endpoint).map((status) => [status, { description: SAID[status], schema: Problem }]),
    ...answers.map(([status, schema]) => [status, { description: 'Instead', schema }]),
  ]);
};

const errorsOf = ({ access, body, method, path, query, rawBytes, unbuilt }: Endpoint): number[] => {
  const isOpen = access === 'public' || access === 'optional';
  const asksWho = access !== 'public' || body !== undefined || rawBytes !== undefined;
  if (unbuilt) return [401, ...(access === 'admin' ? [403] : []), 429, 501];
  return [
    ...(body || query || rawBytes ? [400] : []),
    ...(asksWho ? [401] : []),
    ...(access === 'admin' || (isOpen && body) ? [403] : []),
    ...(path.includes('{') ? [404] : []),
    ...(method === 'GET' || rawBytes ? [] : [409]),
    ...(body || rawBytes ? [413, 415] : []),
    ...(isOpen && method === 'GET' ? [] : [429]),
    503,
  ];
};

const SAID: Record<number, string> = {
  400: 'Bad input; `details` names each field',
  401: 'No or bad credentials',
  403: 'A right is missing',
  404: 'Not there, or not yours',
  409: 'Impossible in this state, or a name is taken',
  413: 'The body is too large',
  415: 'Not a JSON content type',
  429: 'Too many requests; see Retry-After',
  501: 'Not built yet',
  503: 'The database cannot be written, or the daemon drains; see Retry-After',
};
