import type { Endpoint } from '../../src/kernel/contract/endpoint.js';
import { resources } from '../harness/api.js';

export interface Route {
  /** `PUT /api/hooks/{id}`. */
  name: string;
  /** `hooks`: the folder of the resource. */
  area: string;
  endpoint: Endpoint;
}

/** Every route of the API. */
export const routes: Route[] = resources.flatMap(({ name: area, contract }) =>
  Object.values(contract).map((endpoint) => ({
    name: `${endpoint.method} ${endpoint.path}`,
    area,
    endpoint,
  })),
);

/** Those that ask for a token. */
export const guarded = routes.filter(
  ({ endpoint: { access } }) => access === undefined || access === 'user' || access === 'admin',
);

/** Those that are built and take a JSON body, or would refuse one. */
export const writes = routes.filter(
  ({ endpoint: { method, form, rawBytes } }) =>
    method !== 'GET' && form === undefined && rawBytes === undefined,
);

/** The path with every parameter replaced. */
export const fill = (path: string, value: (parameter: string) => string): string =>
  path.replace(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(value(parameter)));

export const NOBODYS = 'hook_01jcx2kq7m8f3k2a9v5ztw4e6r';
