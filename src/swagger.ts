import type { Server } from '@hapi/hapi';
import Hapi from '@hapi/hapi';
import Joi from 'joi';
import type { Endpoint } from './kernel/endpoint.js';
import { Problem } from './kernel/problem.js';
import { paramsRule, successOf } from './kernel/route.js';
import { resources } from './resources.js';

const TITLE = 'Adjutant';

/**
 * Serves `/swagger` and `/swagger.json`. The explorer and its plugins would cost every start time
 * and memory, so they live in a server of their own that is made at the first look and never listens.
 */
export const addExplorer = (server: Server, version: string): void => {
  let explorer: Promise<Server> | null = null;
  for (const path of ['/swagger', '/swagger.json', '/swaggerui/{file*}']) {
    server.route({
      method: 'GET',
      path,
      options: { auth: false },
      handler: async (request, h) => {
        explorer ??= openExplorer(version);
        const reply = await (await explorer).inject({
          url: request.raw.req.url ?? path,
          headers: { host: request.info.host },
        });
        const response = h.response(reply.rawPayload).code(reply.statusCode);
        for (const name of ['content-type', 'cache-control', 'etag', 'last-modified']) {
          const value = reply.headers[name];
          if (value !== undefined) response.header(name, String(value));
        }
        return response.header('content-security-policy', CSP);
      },
    });
  }
};

/** Everything comes from this daemon; the explorer's page sets itself up with an inline script. */
const CSP =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";

const openExplorer = async (version: string): Promise<Server> => {
  const [inert, vision, swagger] = await Promise.all([
    import('@hapi/inert'),
    import('@hapi/vision'),
    import('hapi-swagger'),
  ]);
  const explorer = Hapi.server({ debug: { request: ['error'] } });
  await explorer.register([
    inert.default,
    vision.default,
    {
      plugin: swagger.default,
      options: {
        OAS: 'v3.0',
        info: { title: TITLE, version, description: 'A self-hosted backend for AI assistants' },
        documentationPath: '/swagger',
        jsonPath: '/swagger.json',
        swaggerUIPath: '/swaggerui/',
        routesBasePath: '/swaggerui/',
        validatorUrl: null,
        grouping: 'tags',
        securityDefinitions: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        },
        security: [{ bearer: [] }],
      },
    },
  ]);
  for (const { name, contract } of resources) {
    for (const [verb, endpoint] of Object.entries(contract)) {
      explorer.route(documented(name, verb, endpoint));
    }
  }
  await explorer.initialize();
  return explorer;
};

/** A route that is there to be read about: the contract's schemas and the errors that it can give. */
const documented = (area: string, verb: string, endpoint: Endpoint) => ({
  method: endpoint.method,
  path: endpoint.path,
  options: {
    id: `${area}.${verb}`,
    description: endpoint.summary,
    tags: ['api', area],
    plugins: {
      'hapi-swagger': {
        id: `${area}.${verb}`,
        responses: responsesOf(endpoint),
        ...(isOpen(endpoint) && { security: [] }),
      },
    },
    validate: {
      ...paramsRule(endpoint.path),
      ...(endpoint.query && { query: endpoint.query }),
      ...(endpoint.body && { payload: endpoint.body }),
      ...(endpoint.rawBytes !== undefined && { payload: Joi.object().unknown().label('Payload') }),
    },
    handler: () => null,
  },
});

const isOpen = ({ access }: Endpoint): boolean => access === 'public' || access === 'optional';

const responsesOf = (endpoint: Endpoint) => {
  const errors = [
    ...(endpoint.body || endpoint.query || endpoint.rawBytes ? [400] : []),
    ...(endpoint.access === 'public' && endpoint.rawBytes === undefined ? [] : [401]),
    ...(endpoint.access === 'admin' ? [403] : []),
    ...(endpoint.path.includes('{') ? [404] : []),
    ...(endpoint.method === 'GET' ? [] : [409, 413, 415]),
    429,
    ...(endpoint.unbuilt ? [501] : []),
    503,
  ];
  const answers = Object.entries(endpoint.answers ?? {});
  return Object.fromEntries([
    [successOf(endpoint), { description: 'Done', schema: endpoint.reply ?? Joi.any() }],
    ...errors.map((status) => [status, { description: SAID[status], schema: Problem }]),
    ...answers.map(([status, schema]) => [status, { description: 'Instead', schema }]),
  ]);
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
