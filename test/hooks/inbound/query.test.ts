import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { filterQuery, secretParameter } from '../../../src/hooks/inbound/query.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('secretParameter', () => {
  it('knows the names under which senders put secrets', () => {
    const names = [
      ...['token', 'SECRET', 'key', 'signature', 'sig', 'apikey', 'api_key', 'apiKey', 'x-api-key'],
      ...['accessToken', 'access_token', 'id_token', 'refreshToken', 'password', 'passwd', 'pwd'],
      ...['jwt', 'assertion', 'client_assertion', 'session', 'session_id', 'sessionId'],
      ...['oidc_state', 'client_secret', 'clientSecret', 'functions-key', 'hub.verify_token'],
    ];
    for (const name of names) expect(secretParameter({ [name]: 'x' })).to.equal(name);
  });

  it('passes over other names', () => {
    const names = ['keys', 'validationToken', 'bodySHA256', 'monkey', 'design', 'code', 'author'];
    for (const name of names) expect(secretParameter({ [name]: 'x' })).to.be.null();
  });
});

describe('keptQuery', () => {
  it('keeps nothing that holds a secret, in its name or value', () => {
    const query = { a: '1', 'the-word': '2', b: 'the-word', token: '3' };
    expect(filterQuery(query, (text) => text === 'the-word')).to.equal({ a: '1' });
  });
});
