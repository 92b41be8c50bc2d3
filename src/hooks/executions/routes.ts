import type { JsonText } from '../../kernel/contract/endpoint.js';
import { orNotFound, resource } from '../../kernel/route.js';
import { executionTable } from '../../store/tables/hooks.js';
import { viewer } from '../../store/view.js';
import { ExecutionSummary, executions } from './contract.js';
import type { ExecutionsStore, RecentExecution } from './queries.js';

interface ExecutionsRoutesDeps {
  find(userId: string, id: string): Promise<JsonText | undefined>;
  recent: ExecutionsStore['recent'];
}

const viewRecent = viewer(executionTable, ExecutionSummary, {
  hookName: ({ hook_name }: RecentExecution) => hook_name,
  event: ({ event }: RecentExecution) => event,
});

export const executionsResource = ({ find, recent }: ExecutionsRoutesDeps) =>
  resource('executions', executions, {
    list: async ({ query }, by) => {
      const { rows, nextCursor } = await recent(by.userId, query);
      return { executions: rows.map(viewRecent), nextCursor };
    },
    get: async ({ id }, by) => orNotFound(await find(by.userId, id), 'No execution with that id'),
  });
