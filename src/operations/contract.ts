import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { Operation, operationStatus } from '../kernel/contract/operation.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

export const operations = contract({
  list: endpoint.get('/api/operations', {
    shared: 'member',
    summary: 'List long-running operations',
    description:
      'An operation is work in the background, such as an installation or the indexing of a folder.',
    query: pageQuery('OperationQuery', {
      kind: s.optional(s.text(100)),
      status: s.optional(operationStatus()),
      resource: s.optional(
        s
          .text(300)
          .pattern(/^[a-z_]+:.+$/, '<kind>:<id>')
          .description(
            'Object that the operation works on, as `<kind>:<id>` with the values of `resource` in the reply, such as `capability:llama`',
          ),
      ),
    }),
    reply: createPageSchema('operations', Operation),
  }),
  get: endpoint.get('/api/operations/{id}', {
    shared: 'member',
    summary: 'Get a long-running operation',
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
    summary: 'Cancel a long-running operation',
    description: 'The results of completed steps are kept.',
    reply: Operation,
  }),
});
