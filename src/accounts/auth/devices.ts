import type { Statement } from '../../store/engine/protocol.js';
import { selectRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import {
  type DeviceTokenRow,
  deviceTokenTable,
  type LoginPlaceRow,
  loginPlaceTable,
} from '../../store/tables/accounts.js';

/** The limit for one user. A new device replaces the one whose token expires first. */
const MAX_DEVICES = 50;

export const createDeviceQueries = ({ db }: Store) => ({
  isDevice: async ({ user_id, digest }: Omit<DeviceTokenRow, 'expires_at'>, now: string) => {
    const known = selectRows(db, deviceTokenTable, { digest, user_id });
    return (await known.where('expires_at', '>', now).executeTakeFirst()) !== undefined;
  },

  /** Extends a device that is already stored. */
  keepDevice: (row: DeviceTokenRow): Statement[] => {
    const { digest, user_id, expires_at } = row;
    const kept = db
      .selectFrom('device_tokens')
      .select('digest')
      .where('user_id', '=', user_id)
      .orderBy('expires_at', 'desc')
      .orderBy('digest')
      .limit(MAX_DEVICES);
    const put = db
      .insertInto('device_tokens')
      .values(row)
      .onConflict((on) => on.column('digest').doUpdateSet({ expires_at }));
    const surplus = db
      .deleteFrom('device_tokens')
      .where('user_id', '=', user_id)
      .where('digest', '<>', digest)
      .where('digest', 'not in', kept);
    return [statement(put, 1), statement(surplus)];
  },

  forgetDevices: (userId: string): Statement =>
    statement(db.deleteFrom('device_tokens').where('user_id', '=', userId)),

  placeTold: async ({ user_id, network, program }: Omit<LoginPlaceRow, 'told_at'>) => {
    const place = selectRows(db, loginPlaceTable, { user_id, network, program });
    return (await place.executeTakeFirst())?.told_at;
  },

  keepPlace: (row: LoginPlaceRow): Statement => {
    const { told_at } = row;
    const put = db.insertInto('login_places').values(row);
    return statement(
      put.onConflict((on) =>
        on.columns(['user_id', 'network', 'program']).doUpdateSet({ told_at }),
      ),
      1,
    );
  },
});
