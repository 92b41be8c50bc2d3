import Boom from '@hapi/boom';
import { iso } from '../kernel/clock.js';
import { resource } from '../kernel/route.js';
import { RekeyRefused } from '../secrets/module.js';
import { credentialTable } from '../store/tables/vault.js';
import { viewer } from '../store/view.js';
import { Credential, vault } from './contract.js';
import { listCredentialVersions, restoreCredential, rotateCredential } from './rotation.js';
import {
  createCredential,
  deleteCredential,
  findCredential,
  revealCredential,
  updateCredential,
  type VaultServiceDeps,
} from './service.js';
import { rotateDueAt } from './terms.js';

export const vaultResource = (deps: VaultServiceDeps) =>
  resource('vault', vault, {
    list: async ({ query }, by) => {
      const { rows, nextCursor } = await deps.credentials.list(by.userId, query);
      return { credentials: rows.map(viewCredential), nextCursor };
    },
    create: async ({ body }, by) => viewCredential(await createCredential(deps, body, by)),
    get: async ({ id }, by) => viewCredential(await findCredential(deps, by.userId, id)),
    update: async ({ id, body }, by) =>
      viewCredential(await updateCredential(deps, { id, input: body }, by)),
    delete: ({ id }, by) => deleteCredential(deps, id, by),
    rotate: async ({ id, body }, by) => {
      const { row, value } = await rotateCredential(deps, { id, input: body }, by);
      return { credential: viewCredential(row), ...(value !== null && { value }) };
    },
    versions: async ({ id }, by) => ({ versions: await listCredentialVersions(deps, id, by) }),
    restore: async ({ id, body }, by) =>
      viewCredential(await restoreCredential(deps, { id, input: body }, by)),
    reveal: ({ id, body }, by) => revealCredential(deps, { id, ...body }, by),
    rekey: async (_input, by) => {
      try {
        const rewrapped = await deps.rekey(by.record());
        return { rewrapped, finishedAt: iso(deps.clock.now()) };
      } catch (error) {
        if (!(error instanceof RekeyRefused)) throw error;
        throw Boom.conflict(error.message, { code: error.code });
      }
    },
  });

const viewCredential = viewer(credentialTable, Credential, { rotateDueAt });
