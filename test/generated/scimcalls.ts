import type { TestApp } from '../harness/app.js';
import { provision } from '../harness/scim.js';

interface Cast {
  app: TestApp;
  guest(): Promise<{ id: string; token: string }>;
}

let orgs = 0;

const ofOrg =
  (body: object) =>
  async ({ app, guest }: Cast) => {
    const owner = await guest();
    const { orgId } = await provision(app, `scim-${++orgs}`, owner);
    return { token: owner.token, path: { id: orgId }, body };
  };

export const SCIM_RECIPES = {
  'PUT /api/orgs/{id}/scim': ofOrg({ enabled: false }),
  'POST /api/orgs/{id}/scim-token': ofOrg({}),
  'DELETE /api/orgs/{id}/scim-token': ofOrg({}),
};
