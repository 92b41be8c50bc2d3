import type { Contract, Endpoint } from '../../kernel/contract/endpoint.js';

/** Method, path, summary. */
type UnbuiltRow = readonly [Endpoint['method'], string, string];

/**
 * Endpoints that the interface names and that are not built yet. They are routed, so that they
 * reply with 501 to a token and with 401 without one, even if they are to be public later. An
 * endpoint that is built has no row here.
 */
const rows: UnbuiltRow[] = [
  ['GET', '/api/orgs', 'List the user’s organizations'],
  ['POST', '/api/orgs', 'Create an organization'],
  ['GET', '/api/orgs/{id}', 'Organization details'],
  ['PUT', '/api/orgs/{id}/sso', 'Configure SSO/SAML settings'],
  ['GET', '/api/saml/metadata', 'SAML metadata for federation'],
  ['POST', '/api/saml/acs', 'SAML assertion consumer endpoint'],
  ['GET', '/api/scim/v2/users', 'SCIM user provisioning'],
  ['POST', '/api/scim/v2/users', 'SCIM user creation'],
];

export const unbuilt: Contract = Object.fromEntries(
  rows.map(([method, path, summary]) => [
    `${method} ${path}`,
    { method, path, summary, access: 'user', unbuilt: true as const },
  ]),
);
