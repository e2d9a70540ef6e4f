import { quoted, SpecInvalid } from './types.ts'

/** The zone's name as IANA spells it (an old alias stays one), whatever its case; null when there is none such. */
export function zoneName(name: string): string | null {
  known ??= spellings()
  // The longest is America/Argentina/ComodRivadavia.
  return name.length > 40 ? null : (known.get(name) ?? known.get(name.toLowerCase()) ?? null)
}

/**
 * IANA names, old aliases included (Europe/Kiev, US/Eastern). EST, MST, CET and their like are IANA names, CDT, PST, IST
 * are not, though Intl takes some of these; nor are offsets: who writes `+02:00` in winter is wrong in summer.
 */
export function isZone(name: string): boolean {
  return zoneName(name) !== null
}

/** @throws SpecInvalid  at 'tz' */
export function requireZoneName(name: string): string {
  const found = zoneName(name)
  if (found !== null) return found
  throw new SpecInvalid('tz', `Expected an IANA time zone, got ${quoted(name)}. ${advice(name)}`)
}

export function isFixedUtc(name: string): boolean {
  return utcNames.has(name)
}

const utcNames = new Set(
  `UTC Etc/UTC GMT Etc/GMT UCT Etc/UCT Zulu Etc/Zulu Universal Etc/Universal Greenwich Etc/Greenwich GMT0 GMT+0 GMT-0
  Etc/GMT0 Etc/GMT+0 Etc/GMT-0`.split(/\s+/),
)

function advice(name: string): string {
  if (name === '') return 'Write e.g. "Europe/Amsterdam", or leave tz out for UTC.'
  if (/^(?:UTC|GMT)?[+-]?\d/i.test(name))
    return 'An offset has no daylight saving rules: write the place, e.g. "Europe/Amsterdam", or "Etc/GMT-2" for a fixed +02:00.'
  const place = abbreviated[name.toUpperCase()]
  if (place !== undefined) return `An abbreviation is ambiguous: write the place, e.g. "${place}".`
  return 'Write a name of the tz database such as "Europe/Amsterdam", "America/New_York" or "UTC".'
}

const abbreviated: Record<string, string> = {
  CDT: 'America/Chicago',
  CST: 'America/Chicago',
  EDT: 'America/New_York',
  ET: 'America/New_York',
  MDT: 'America/Denver',
  PDT: 'America/Los_Angeles',
  PST: 'America/Los_Angeles',
  PT: 'America/Los_Angeles',
  BST: 'Europe/London',
  CEST: 'Europe/Berlin',
  EEST: 'Europe/Athens',
  IST: 'Asia/Kolkata',
  JST: 'Asia/Tokyo',
  AEST: 'Australia/Sydney',
  AEDT: 'Australia/Sydney',
  Z: 'UTC',
}

let known: Map<string, string> | undefined

/** Every name under its own and its lower-case spelling. */
function spellings(): Map<string, string> {
  const map = new Map<string, string>()
  for (const name of [...Intl.supportedValuesOf('timeZone'), ...aliases.split(/\s+/)]) {
    map.set(name, name)
    map.set(name.toLowerCase(), name)
  }
  return map
}

/** tzdb 2025c names that Intl takes but does not list; both spellings where ICU and IANA differ, since that moves with ICU. */
const aliases = `Africa/Asmara Africa/Asmera Africa/Timbuktu America/Argentina/Buenos_Aires America/Argentina/Catamarca
America/Argentina/ComodRivadavia America/Argentina/Cordoba America/Argentina/Jujuy America/Argentina/Mendoza
America/Atikokan America/Atka America/Buenos_Aires America/Catamarca America/Coral_Harbour America/Cordoba
America/Ensenada America/Fort_Wayne America/Godthab America/Indiana/Indianapolis America/Indianapolis America/Jujuy
America/Kentucky/Louisville America/Knox_IN America/Louisville America/Mendoza America/Montreal America/Nipigon
America/Nuuk America/Pangnirtung America/Porto_Acre America/Rainy_River America/Rosario America/Santa_Isabel
America/Shiprock America/Thunder_Bay America/Virgin America/Yellowknife Antarctica/South_Pole Asia/Ashkhabad
Asia/Calcutta Asia/Choibalsan Asia/Chongqing Asia/Chungking Asia/Dacca Asia/Harbin Asia/Ho_Chi_Minh Asia/Istanbul
Asia/Kashgar Asia/Kathmandu Asia/Katmandu Asia/Kolkata Asia/Macao Asia/Rangoon Asia/Saigon Asia/Tel_Aviv Asia/Thimbu
Asia/Ujung_Pandang Asia/Ulan_Bator Asia/Yangon Atlantic/Faeroe Atlantic/Faroe Atlantic/Jan_Mayen Australia/ACT
Australia/Canberra Australia/Currie Australia/LHI Australia/NSW Australia/North Australia/Queensland Australia/South
Australia/Tasmania Australia/Victoria Australia/West Australia/Yancowinna Brazil/Acre Brazil/DeNoronha Brazil/East
Brazil/West CET CST6CDT Canada/Atlantic Canada/Central Canada/Eastern Canada/Mountain Canada/Newfoundland
Canada/Pacific Canada/Saskatchewan Canada/Yukon Chile/Continental Chile/EasterIsland Cuba EET EST EST5EDT Egypt Eire
Etc/GMT Etc/GMT+0 Etc/GMT+1 Etc/GMT+10 Etc/GMT+11 Etc/GMT+12 Etc/GMT+2 Etc/GMT+3 Etc/GMT+4 Etc/GMT+5 Etc/GMT+6
Etc/GMT+7 Etc/GMT+8 Etc/GMT+9 Etc/GMT-0 Etc/GMT-1 Etc/GMT-10 Etc/GMT-11 Etc/GMT-12 Etc/GMT-13 Etc/GMT-14 Etc/GMT-2
Etc/GMT-3 Etc/GMT-4 Etc/GMT-5 Etc/GMT-6 Etc/GMT-7 Etc/GMT-8 Etc/GMT-9 Etc/GMT0 Etc/Greenwich Etc/UCT Etc/UTC
Etc/Universal Etc/Zulu Europe/Belfast Europe/Kiev Europe/Kyiv Europe/Nicosia Europe/Tiraspol Europe/Uzhgorod
Europe/Zaporozhye GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel Jamaica Japan Kwajalein
Libya MET MST MST7MDT Mexico/BajaNorte Mexico/BajaSur Mexico/General NZ NZ-CHAT Navajo PRC PST8PDT Pacific/Chuuk
Pacific/Enderbury Pacific/Johnston Pacific/Kanton Pacific/Pohnpei Pacific/Ponape Pacific/Samoa Pacific/Truk
Pacific/Yap Poland Portugal ROC ROK Singapore Turkey UCT US/Alaska US/Aleutian US/Arizona US/Central US/East-Indiana
US/Eastern US/Hawaii US/Indiana-Starke US/Michigan US/Mountain US/Pacific US/Samoa UTC Universal W-SU WET Zulu`.trim()
