import type { en } from "./en.ts"

/**
 * What the package says in German.
 *
 * @internal
 */
export const de: { readonly [K in keyof typeof en]: string } & { readonly [key: string]: string } = {
  "errors.Invalid": "Die Anfrage ist nicht gültig: {problems}",
  "errors.Problem": "{label} {message}",
  "errors.Item": "{label} (Eintrag {position})",
  "errors.Position": "Eintrag {position}",
  "errors.Body": "Der Inhalt {message}",
  "errors.InItem": "Eintrag {position}: {message}",
  "errors.DocumentNotFound": "{model} {id} gibt es nicht",
  "errors.DuplicateKey": "{model}: {fields} gibt es schon",
  "errors.VersionConflict": "{model} {id} hat nicht mehr die Version {expected}",
  "errors.QueryRejected": "Der Speicher nimmt nicht an, was die Anfrage verlangt oder sendet",
  "errors.QueryTimeout": "Die Abfrage hat zu lange gedauert und wurde abgebrochen",
  "errors.StoreUnavailable": "Der Speicher ist nicht erreichbar, bitte später noch einmal versuchen",
  "errors.Unsupported": "Der Speicher kann das nicht: {feature}",
  "errors.Route": "Unter {path} gibt es nichts",
  "errors.MethodNotAllowed": "Die Methode {method} ist für {path} nicht erlaubt",
  "errors.NotAcceptable": "Die Antwort ist application/json, was der Kopf Accept nicht zulässt",
  "errors.PreconditionFailed": "Das Dokument ist nicht das, nach dem If-Match oder If-None-Match fragt",
  "errors.BodyTooLarge": "Der Inhalt ist größer als die {limit} Bytes, die angenommen werden",
  "errors.BodyType": "Der Inhalt muss von der Art {types} sein",
  "errors.BodyUnreadable": "Der Inhalt kann nicht gelesen werden",
  "errors.BodyNotUtf8": "Der Inhalt ist kein gültiges UTF-8",
  "errors.BodyNotUnicode": "Der Inhalt hat einen Text, der kein gültiges Unicode ist",
  "errors.BodyTooDeep": "Der Inhalt ist mehr als {depth} Ebenen tief verschachtelt",
  "errors.BodyNotJson": "Der Inhalt ist kein gültiges JSON: {reason}",
  "errors.InternalServerError": "Die Anfrage konnte nicht bearbeitet werden; sie ist unter {id} aufgezeichnet",

  "validators.Required": "fehlt",
  "validators.Type":
    "{type, select, str {muss ein Text sein} int {muss eine ganze Zahl sein} float {muss eine Zahl sein} bool {muss true oder false sein} list {muss eine Liste sein} object {muss ein Objekt sein} datetime {muss ein Datum mit Uhrzeit sein, zum Beispiel 2026-01-31T09:30:00} date {muss ein Datum sein, zum Beispiel 2026-01-31} enum {muss einer dieser Werte sein: {value}} bytes {muss aus Binärdaten in Base64 bestehen} url {muss eine URL sein, zum Beispiel https://example.com/} duration {muss eine Dauer sein} null {muss null sein} other {hat nicht die erwartete Form}}",
  "validators.Unknown": "ist kein Feld des Modells",
  "validators.NotEmpty": "darf nicht leer sein",
  "validators.Regexp": "muss dem Muster {value} entsprechen",
  "validators.Email": "muss eine gültige E-Mail-Adresse sein",
  "validators.Min":
    "{type, select, str {muss mindestens {value, number} Zeichen lang sein} list {muss mindestens {value, plural, one {# Eintrag} other {# Einträge}} haben} other {muss mindestens {value, number} sein}}",
  "validators.Max":
    "{type, select, str {darf höchstens {value, number} Zeichen lang sein} list {darf höchstens {value, plural, one {# Eintrag} other {# Einträge}} haben} other {darf höchstens {value, number} sein}}",
  "validators.Above": "muss größer als {value, number} sein",
  "validators.Below": "muss kleiner als {value, number} sein",
  "validators.MultipleOf": "muss ein Vielfaches von {value, number} sein",
  "validators.Past": "muss in der Vergangenheit liegen",
  "validators.Future": "muss in der Zukunft liegen",
  "validators.Unique": "{type, select, list {darf keinen Eintrag zweimal haben} other {muss eindeutig sein}}",
  "validators.Uuid": "muss eine UUID sein, zum Beispiel 7f2c1b9e-0d3a-4c55-9b1a-6f0e8d2c4a10",

  "validators.Id": "ist nicht die Kennung aus der URL",
  "validators.Url": "kann nicht Teil einer URL sein",
  "validators.Parameter":
    "{type, select, unknown {ist hier kein Parameter} str {muss ein Text sein} int {muss eine ganze Zahl sein} float {muss eine Zahl sein} bool {muss true oder false sein} datetime {muss ein Datum sein, zum Beispiel 2026-01-31} date {muss ein Datum sein, zum Beispiel 2026-01-31} enum {muss einer dieser Werte sein: {value}} other {kann diesen Wert nicht annehmen}}",
  "validators.Parameter@page": "muss eine ganze Zahl ab 1 sein, und keine zu große",
  "validators.Parameter@page_size": "muss eine ganze Zahl von 1 bis {value, number} sein",
  "validators.Parameter@sort_by": "muss Felder nennen, nach denen sortiert werden kann",
  "validators.Parameter@sort_order": "muss ASC oder DESC sein",
  "validators.Parameter@fields": "muss Felder nennen, die es gibt",
  "validators.Parameter@query": "muss eine Bedingung sein, die hier erlaubt ist",
  "validators.Parameter@pipe": "muss eine Liste von Stufen sein, die hier erlaubt sind",
  "validators.Cursor": "passt nicht zu dieser Sammlung in dieser Reihenfolge",
  "validators.Operator": "kann so nicht verglichen werden",
  "validators.Limit": "überschreitet, was angenommen wird",
  "validators.Header": "muss * oder eine Liste von Entitätsmarken in Anführungszeichen sein",
  "validators.Json": "ist kein JSON, das hier angenommen wird",
  "validators.Form": "passt nicht zu den anderen Teilen des Formulars",
  "validators.File": "kann keine Datei sein",
  "validators.More": "Es gibt weitere Fehler, die nicht aufgeführt sind"
}
