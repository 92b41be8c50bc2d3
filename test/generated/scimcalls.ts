import { provision } from '../harness/scim.js';
import type { Kitchen, Trial } from './auditcalls.js';

let orgs = 0;

const ofOrg =
  (body: object) =>
  async ({ app, guest }: Kitchen): Promise<Trial> => {
    const owner = await guest();
    const { orgId } = await provision(app, `scim-${++orgs}`, owner);
    return { token: owner.token, path: { id: orgId }, body };
  };

export const SCIM_RECIPES = {
  'PUT /api/orgs/{id}/scim': ofOrg({ enabled: false }),
  'POST /api/orgs/{id}/scim-token': ofOrg({}),
  'DELETE /api/orgs/{id}/scim-token': ofOrg({}),
};
