import { typeid } from 'typeid-js'

/** Prefix of each kind of id; the rest is a UUIDv7 in base 32 (TypeID 0.3), so ids sort by time of making. */
export type IdPrefix = 'job' | 'att' | 'evt' | 'req' | 'wrk' | 'drv' | 'sec' | 'whk'

/** A new id such as `job_01h455vb4pex5vsknk084sn02q`. Made by us and not by the database, so that a lost reply can be looked up. */
export const newId = (prefix: IdPrefix): string => typeid(prefix).toString()

/** Pattern of an id with this prefix, for schemas. */
export const idPattern = (prefix: IdPrefix): RegExp => new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)
