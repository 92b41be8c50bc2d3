import type { Contract, Endpoint } from '../../kernel/contract/endpoint.js';

type UnbuiltRow = readonly [Endpoint['method'], string, string];

/**
 * Method, path and summary of the planned endpoints. They reply with 501 to a token and with 401
 * without one, even those that will be public.
 */
const rows: UnbuiltRow[] = [
  ['GET', '/api/scim/v2/users', 'List users (SCIM)'],
  ['POST', '/api/scim/v2/users', 'Create a user (SCIM)'],
];

export const unbuilt: Contract = Object.fromEntries(
  rows.map(([method, path, summary]) => [
    `${method} ${path}`,
    { method, path, summary, access: 'user', unbuilt: true as const },
  ]),
);
