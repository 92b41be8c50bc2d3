import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import { Unavailable, UniqueViolation } from '../../store/engine/protocol.js';
import { runBulk } from './bulk.js';
import type { ScimQuery } from './contract.js';
import { createGroups } from './groups.js';
import type { ScimOrgRow } from './queries.js';
import {
  notUnique,
  type ScimCall,
  type ScimCaller,
  type ScimContext,
  type ScimDeps,
  type ScimReply,
} from './resource.js';
import { createUsers } from './users.js';

export const createScimService = (deps: ScimDeps) => {
  const resources = { Users: createUsers(deps), Groups: createGroups(deps) };

  /** Address of the SCIM endpoints. */
  const baseFor = ({ host }: ScimCaller): string =>
    `${deps.publicUrl() ?? `http://${host}`}/api/scim/v2`;

  const perform = async (context: ScimContext, call: ScimCall): Promise<ScimReply> => {
    const { method, id, query } = call;
    const resource = resources[call.resource];
    try {
      if (method === 'POST') return await resource.create(context, call);
      if (id === null) return await resource.list(context, query);
      const change = { ...call, id };
      if (method === 'GET') return await resource.get(context, change);
      if (method === 'PUT') return await resource.replace(context, change);
      if (method === 'PATCH') return await resource.patch(context, change);
      return await resource.delete(context, change);
    } catch (error) {
      throw error instanceof UniqueViolation ? notUnique(call.resource) : error;
    }
  };

  const logged = async <T extends { status: number }>(
    { org, by, now }: ScimContext,
    { method, path }: { method: string; path: string },
    work: () => Promise<T>,
  ): Promise<T> => {
    const note = async (status: number, detail: string | null): Promise<void> => {
      const row = {
        id: mint('scimlog', deps.clock.now()),
        org_id: org.id,
        method,
        path: path.slice(0, MAX_PATH),
        status,
        detail: detail?.slice(0, MAX_DETAIL) ?? null,
        username: 'providerOf' in by ? null : by.username,
        created_at: now,
      };
      const isUse = 'providerOf' in by && isMinuteOld(org.last_used_at, now);
      await deps.scim.addLog(row, isUse).catch((error) => {
        if (!(error instanceof Unavailable)) throw error;
      });
    };
    try {
      const reply = await work();
      await note(reply.status, null);
      return reply;
    } catch (error) {
      if (Boom.isBoom(error)) await note(error.output.statusCode, error.message);
      throw error;
    }
  };

  const contextOf = async (by: ScimCaller, slug: string | undefined): Promise<ScimContext> => {
    const org = await findOrg(deps, by, slug);
    const now = iso(deps.clock.now());
    const isProvider = 'providerOf' in by;
    return {
      org,
      by,
      now,
      base: baseFor(by),
      audit: (action, data) => ({
        audit: {
          id: mint('audit', deps.clock.now()),
          at: now,
          actorId: isProvider ? org.id : by.userId,
          impersonatorId: isProvider ? null : (by.impersonator?.id ?? null),
          action,
          target: org.id,
          outcome: 'ok',
          ip: by.address,
          requestId: by.requestId,
          data,
        },
      }),
    };
  };

  return {
    baseFor,
    serve: async (by: ScimCaller, call: ScimCall): Promise<ScimReply> => {
      const context = await contextOf(by, call.query.org);
      const work = () => perform(context, call);
      return logged(context, { method: call.method, path: pathOf(call) }, () =>
        call.method === 'GET' ? work() : deps.serial(context.org.id, work),
      );
    },
    bulk: async (by: ScimCaller, query: ScimQuery, body: ScimCall['body']): Promise<ScimReply> => {
      const context = await contextOf(by, query.org);
      const run = (call: ScimCall) =>
        logged(context, { method: call.method, path: `/Bulk${pathOf(call)}` }, () =>
          perform(context, call),
        );
      return deps.serial(context.org.id, () => runBulk(context, body, run));
    },
  };
};

export type ScimService = ReturnType<typeof createScimService>;

const MAX_PATH = 600;
const MAX_DETAIL = 2000;
const MINUTE_MS = 60_000;

const pathOf = ({ resource, id, query: { filter } }: ScimCall): string =>
  `/${resource}${id === null ? '' : `/${id}`}${filter === undefined ? '' : `?filter=${filter}`}`;

const isMinuteOld = (time: string | null, now: string): boolean =>
  time === null || Date.parse(now) - Date.parse(time) >= MINUTE_MS;

const findOrg = async (
  { scim }: Pick<ScimDeps, 'scim'>,
  by: ScimCaller,
  slug: string | undefined,
): Promise<ScimOrgRow> => {
  const found =
    'providerOf' in by ? [await scim.org(by.providerOf)] : await scim.managedBy(by.userId, slug);
  const [org] = found;
  if (!org) throw Boom.notFound('You manage no such organization');
  if (found.length > 1) {
    throw Boom.badRequest('You manage several organizations. Add ?org=<slug> to the address');
  }
  if (org.enabled !== 1 || org.approved_at === null) {
    throw Boom.forbidden(
      'User provisioning is disabled for this organization. An owner or admin of the organization can enable it',
    );
  }
  return org;
};
