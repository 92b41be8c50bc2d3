import Boom from '@hapi/boom';
import { resource } from '../../kernel/route.js';
import { grantTable } from '../../store/tables/permissions.js';
import { viewer } from '../../store/view.js';
import { grants as contract, Grant } from './contract.js';
import type { Grants, NamedGrant } from './queries.js';

const viewGrant = viewer(grantTable, Grant, {
  boundTo: ({ hook_name, session_title }: NamedGrant) => hook_name ?? session_title,
});

export const grantsResource = (grants: Grants) =>
  resource('grants', contract, {
    list: async ({ query }, by) => {
      const { rows, nextCursor } = await grants.list(by.userId, query);
      return { grants: rows.map(viewGrant), nextCursor };
    },
    delete: async ({ id }, by) => {
      const isDeleted = await grants.delete(by.userId, id, by.record({ target: id }));
      if (!isDeleted) throw Boom.notFound('No standing approval with that id');
    },
  });
