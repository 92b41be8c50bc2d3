import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { Operation, operationStatus } from '../kernel/contract/operation.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

export const operations = contract({
  list: endpoint.get('/api/operations', {
    shared: 'member',
    summary: 'List operations',
    query: pageQuery('OperationQuery', {
      kind: s.optional(s.text(100)),
      status: s.optional(operationStatus()),
      resource: s.optional(
        s
          .text(300)
          .pattern(/^[a-z_]+:.+$/, '<kind>:<id>')
          .description('Resource of the operation, as `<kind>:<id>`'),
      ),
    }),
    reply: createPageSchema('operations', Operation),
  }),
  get: endpoint.get('/api/operations/{id}', {
    shared: 'member',
    summary: 'Get an operation',
    query: s.object('OperationWait', {
      wait: s.optional(
        s
          .queryWhole(0, 25)
          .description('Maximum time to wait for the next change, in seconds. Defaults to 0'),
      ),
    }),
    reply: Operation,
  }),
  cancel: endpoint.post('/api/operations/{id}/cancel', {
    shared: 'admin',
    summary: 'Cancel an operation',
    description: 'The results of completed steps are kept.',
    reply: Operation,
  }),
});
