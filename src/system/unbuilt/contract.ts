import type { Contract, Endpoint } from '../../kernel/contract/endpoint.js';

type UnbuiltRow = readonly [Endpoint['method'], string, string];

/**
 * Method, path and summary of the planned endpoints. They reply with 501 to a token and with 401
 * without one, even those that will be public.
 */
const rows: UnbuiltRow[] = [
  ['PUT', '/api/orgs/{id}/sso', 'Update the SSO settings'],
  ['GET', '/api/saml/metadata', 'Get the SAML metadata'],
  ['POST', '/api/saml/acs', 'Process a SAML assertion'],
];

export const unbuilt: Contract = Object.fromEntries(
  rows.map(([method, path, summary]) => [
    `${method} ${path}`,
    { method, path, summary, access: 'user', unbuilt: true as const },
  ]),
);
