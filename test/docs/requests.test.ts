import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Endpoint } from '../../src/kernel/contract/endpoint.js';
import { endpoints } from '../harness/api.js';
import { codeBlocks, codeSpans, documents } from '../harness/documents.js';

export const lab = Lab.script();
const { describe, it } = lab;

const REQUEST = /^(GET|POST|PUT|PATCH|DELETE) (\/[^\s?]*)/;

/** `<agentId>` in a document stands where the contract has `{agentId}`. */
const endpointOf = (request: string): Endpoint | undefined => {
  const [, method, path = ''] = REQUEST.exec(request) ?? [];
  return endpoints.find((each) => each.method === method && blank(each.path) === blank(path));
};

const blank = (path: string): string => path.replace(/<\w+>|\{\w+\}/g, '*');

const samples = documents()
  .flatMap(codeBlocks)
  .filter(({ language }) => language === 'http')
  .map(({ path, code }) => {
    const [request = '', body = ''] = code.split('\n\n');
    return { path, request, body };
  });

describe('requests in the documents', () => {
  it('go to endpoints of the API', () => {
    const named = documents().flatMap((document) =>
      codeSpans(document).filter((span) => REQUEST.test(span)),
    );
    expect(named).to.include('POST /api/auth/ws-ticket');
    const requests = [...named, ...samples.map(({ request }) => request)];
    expect(requests.filter((request) => endpointOf(request) === undefined)).to.equal([]);
  });

  it('have bodies that the API accepts', () => {
    expect(samples.length).to.be.above(8);
    const faults = samples.flatMap(({ path, request, body }) => {
      const schema = endpointOf(request)?.body;
      if (!schema) return [`${path}: ${request} takes no body`];
      const { error } = schema.validate(JSON.parse(body));
      return error ? [`${path}: ${request}: ${error.message}`] : [];
    });
    expect(faults).to.equal([]);
  });
});
