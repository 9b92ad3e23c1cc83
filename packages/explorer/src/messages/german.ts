import type { Messages } from "@appkernel/react-admin"

/** All texts of the page in German: those of react-admin, of which there is no maintained translation, and its own. */
export const german: Messages = {
  ra: {
    action: {
      add_filter: "Filter hinzufügen",
      add: "Hinzufügen",
      back: "Zurück",
      bulk_actions: "1 ausgewählt |||| %{smart_count} ausgewählt",
      cancel: "Abbrechen",
      clear_array_input: "Liste leeren",
      clear_input_value: "Wert leeren",
      clone: "Duplizieren",
      confirm: "Bestätigen",
      create: "Erstellen",
      create_item: "%{item} erstellen",
      delete: "Löschen",
      edit: "Bearbeiten",
      export: "Exportieren",
      list: "Liste",
      refresh: "Aktualisieren",
      remove_filter: "Filter entfernen",
      remove_all_filters: "Alle Filter entfernen",
      remove: "Entfernen",
      reset: "Zurücksetzen",
      save: "Speichern",
      search: "Suchen",
      search_columns: "Spalten suchen",
      select_all: "Alle auswählen",
      select_all_button: "Alle auswählen",
      select_row: "Diese Zeile auswählen",
      show: "Anzeigen",
      sort: "Sortieren",
      undo: "Rückgängig",
      unselect: "Auswahl aufheben",
      expand: "Aufklappen",
      close: "Schließen",
      open_menu: "Menü öffnen",
      close_menu: "Menü schließen",
      update: "Ändern",
      move_up: "Nach oben",
      move_down: "Nach unten",
      open: "Öffnen",
      toggle_theme: "Helles oder dunkles Aussehen",
      select_columns: "Spalten",
      update_application: "Anwendung neu laden"
    },
    boolean: { true: "Ja", false: "Nein", null: " " },
    page: {
      create: "%{name} erstellen",
      dashboard: "Start",
      edit: "%{name} %{recordRepresentation}",
      error: "Etwas ist schiefgegangen",
      list: "%{name}",
      loading: "Wird geladen",
      not_found: "Nicht gefunden",
      show: "%{name} %{recordRepresentation}",
      empty: "Noch keine %{name}.",
      invite: "Möchten Sie etwas hinzufügen?",
      access_denied: "Zugriff verweigert",
      authentication_error: "Fehler bei der Anmeldung"
    },
    input: {
      file: {
        upload_several: "Dateien hierher ziehen oder klicken.",
        upload_single: "Datei hierher ziehen oder klicken."
      },
      image: {
        upload_several: "Bilder hierher ziehen oder klicken.",
        upload_single: "Bild hierher ziehen oder klicken."
      },
      references: {
        all_missing: "Die Verweise wurden nicht gefunden.",
        many_missing: "Mindestens ein Verweis ist nicht mehr da.",
        single_missing: "Der Verweis ist nicht mehr da."
      },
      password: { toggle_visible: "Passwort verbergen", toggle_hidden: "Passwort anzeigen" }
    },
    message: {
      about: "Über",
      access_denied: "Sie dürfen diese Seite nicht sehen",
      are_you_sure: "Sind Sie sicher?",
      authentication_error: "Ihre Anmeldung konnte nicht geprüft werden.",
      auth_error: "Ihre Anmeldung konnte nicht geprüft werden.",
      bulk_delete_content: "%{name} wirklich löschen? |||| Diese %{smart_count} Einträge wirklich löschen?",
      bulk_delete_title: "%{name} löschen |||| %{smart_count} %{name} löschen",
      bulk_update_content: "%{name} wirklich ändern? |||| Diese %{smart_count} Einträge wirklich ändern?",
      bulk_update_title: "%{name} ändern |||| %{smart_count} %{name} ändern",
      clear_array_input: "Die ganze Liste wirklich leeren?",
      delete_content: "%{name} wirklich löschen?",
      delete_title: "%{name} %{recordRepresentation} löschen",
      details: "Einzelheiten",
      error: "Auf der Seite ist ein Fehler aufgetreten.",
      invalid_form: "Das Formular hat Fehler",
      loading: "Bitte warten",
      no: "Nein",
      not_found: "Die Adresse ist falsch, oder ein Link stimmt nicht.",
      select_all_limit_reached: "Es sind zu viele, um alle auszuwählen. Nur die ersten %{max} sind ausgewählt.",
      unsaved_changes: "Manche Änderungen sind nicht gespeichert. Wirklich verwerfen?",
      yes: "Ja",
      placeholder_data_warning: "Die Daten konnten nicht neu geladen werden."
    },
    navigation: {
      clear_filters: "Filter entfernen",
      no_filtered_results: "Keine %{name} zu diesen Filtern.",
      no_results: "Keine %{name}",
      no_more_results: "Seite %{page} gibt es nicht. Versuchen Sie die vorige.",
      page_out_of_boundaries: "Seite %{page} gibt es nicht",
      page_out_from_end: "Das war die letzte Seite",
      page_out_from_begin: "Das war die erste Seite",
      page_range_info: "%{offsetBegin}–%{offsetEnd} von %{total}",
      partial_page_range_info: "%{offsetBegin}–%{offsetEnd} von mehr als %{offsetEnd}",
      current_page: "Seite %{page}",
      page: "Zu Seite %{page}",
      first: "Zur ersten Seite",
      last: "Zur letzten Seite",
      next: "Zur nächsten Seite",
      previous: "Zur vorigen Seite",
      page_rows_per_page: "Zeilen pro Seite:",
      skip_nav: "Zum Inhalt"
    },
    sort: { sort_by: "Sortieren nach %{field} %{order}", ASC: "aufsteigend", DESC: "absteigend" },
    auth: {
      auth_check_error: "Bitte melden Sie sich an",
      user_menu: "Konto",
      username: "Benutzername",
      password: "Passwort",
      email: "E-Mail",
      sign_in: "Anmelden",
      sign_in_error: "Die Anmeldung ist fehlgeschlagen",
      logout: "Abmelden"
    },
    notification: {
      updated: "Geändert |||| %{smart_count} geändert",
      created: "Erstellt",
      deleted: "Gelöscht |||| %{smart_count} gelöscht",
      bad_item: "Ungültiger Eintrag",
      item_doesnt_exist: "Das gibt es nicht mehr",
      http_error: "Der Dienst hat nicht geantwortet",
      data_provider_error: "Fehler beim Lesen der Daten",
      i18n_error: "Die Texte dieser Sprache konnten nicht geladen werden",
      canceled: "Abgebrochen",
      logged_out: "Ihre Sitzung ist zu Ende. Bitte melden Sie sich wieder an.",
      not_authorized: "Sie dürfen das nicht.",
      application_update_available: "Es gibt eine neue Fassung.",
      offline: "Keine Verbindung."
    },
    validation: {
      required: "Erforderlich",
      minLength: "Mindestens %{min} Zeichen",
      maxLength: "Höchstens %{max} Zeichen",
      minValue: "Mindestens %{min}",
      maxValue: "Höchstens %{max}",
      number: "Muss eine Zahl sein",
      email: "Muss eine E-Mail-Adresse sein",
      oneOf: "Muss eines davon sein: %{options}",
      regex: "Muss dem Muster entsprechen: %{pattern}",
      unique: "Muss eindeutig sein"
    },
    saved_queries: {
      label: "Gespeicherte Abfragen",
      query_name: "Name",
      new_label: "Abfrage speichern …",
      new_dialog_title: "Abfrage speichern als",
      remove_label: "Abfrage entfernen",
      remove_label_with_name: "Abfrage „%{name}“ entfernen",
      remove_dialog_title: "Abfrage entfernen?",
      remove_message: "Diese Abfrage wirklich entfernen?",
      help: "Filtern Sie die Liste und speichern Sie die Abfrage"
    }
  },
  explorer: {
    again: "Noch einmal versuchen",
    outdated: "Der Dienst hat inzwischen eine andere Fassung dieser Seite.",
    reload: "Neu laden",
    data: "Daten",
    unreachable: "Der Dienst ist nicht erreichbar",
    notHere: "Hier ist nichts, oder Sie dürfen es nicht sehen.",
    nothingForYou: "Hier ist nichts, was Sie sehen dürfen.",
    print: "Drucken",
    csv: "Als CSV speichern, wie angezeigt",
    total: "%{smart_count} Dokument |||| %{smart_count} Dokumente",
    elements: "%{smart_count} Eintrag |||| %{smart_count} Einträge",
    deleteTitle: "%{name} %{which} löschen",
    signIn: {
      title: "Anmelden",
      to: "bei den Daten von %{host}",
      unfinished:
        "Der Dienst hat auf Ihre Abmeldung nicht geantwortet, daher ist dieser Browser vielleicht noch angemeldet. Sie wird " +
        "wiederholt, bis der Dienst antwortet: Lassen Sie diese Seite offen.",
      refused: "Der Dienst hat Ihre Abmeldung abgelehnt, daher ist dieser Browser vielleicht noch angemeldet."
    },
    signOutEverywhere: {
      label: "Überall abmelden",
      content: "Alle Ihre Anmeldungen enden, an diesem Gerät und an allen anderen.",
      failed:
        "Ihre Anmeldungen bestehen vielleicht weiter, an diesem Gerät und an anderen. Melden Sie sich an und versuchen Sie es noch einmal. %{reason}"
    },
    account: {
      title: "Ihr Konto",
      sessions: "Wo Sie angemeldet sind",
      began: "Seit %{time}",
      used: "Zuletzt erneuert %{ago}",
      none: "Hier ist keine Anmeldung von Ihnen bekannt: Sie sind mit anderen Zugangsdaten gekommen.",
      current: "Diese",
      end: "Abmelden"
    },
    goTo: {
      label: "Gehe zu …",
      hint: "Name einer Seite eingeben",
      pages: "Seiten",
      create: "Erstellen",
      new: "%{name} erstellen"
    },
    home: {
      title: "Start",
      greeting: "Ihre Daten auf einen Blick",
      models: "Modelle",
      failed: "%{count} gescheitert |||| %{count} gescheitert",
      moreFailed: "Mehr als %{count} gescheitert",
      noneFailed: "Keine gescheitert",
      changes: {
        insert: "neu",
        update: "geändert",
        delete: "nicht mehr da"
      },
      metrics: {
        title: "Was der Dienst tut",
        requests: "Anfragen",
        latency: "95 von 100 beantwortet in",
        errors: "Gescheiterte Anfragen",
        store: "Mittlere Dauer eines Datenbankzugriffs",
        table: "Die Zahlen als Tabelle",
        time: "Zeit",
        begin: "Seit dem Start"
      },
      latest: "Neueste Änderungen",
      operations: "Vorgänge",
      checks: { store: "Speicher", disk: "Festplatte", migrations: "Migrationen", upstreams: "Andere Dienste" },
      many: "Viele",
      service: "Dienst",
      noChanges: "Noch hat sich nichts geändert.",
      health: "Zustand",
      up: "Läuft",
      down: "Läuft nicht"
    },
    filter: {
      add: "Filter",
      field: "Feld",
      operator: "Vergleich",
      value: "Wert",
      apply: "Anwenden",
      several: "Eingabetaste nach jedem",
      searchIn: "Suchen nach %{name}",
      logic: "Wie die Bedingungen verbunden sind",
      and: "alle davon",
      or: "eine davon"
    },
    operators: {
      is: "ist",
      isNot: "ist nicht",
      contains: "enthält",
      greater: "ist mehr als",
      atLeast: "ist mindestens",
      less: "ist weniger als",
      atMost: "ist höchstens",
      greaterTime: "ist nach",
      atLeastTime: "ist ab",
      lessTime: "ist vor",
      atMostTime: "ist bis",
      oneOf: "ist eines von",
      noneOf: "ist keines von",
      size: "hat so viele Einträge:",
      isElement: "hat",
      isNotElement: "hat nicht",
      missing: "hat keinen Wert",
      present: "hat einen Wert"
    },
    live: {
      live: { label: "Live", help: "Was andere ändern, ist sofort zu sehen." },
      interrupted: {
        label: "Nicht live",
        help: "Zurzeit fehlt die Verbindung; dies kann veraltet sein. Sie wird immer wieder versucht."
      },
      ended: {
        label: "Nicht mehr live",
        help: "Der Dienst meldet keine Änderungen mehr. Laden Sie die Seite neu, um es noch einmal zu versuchen."
      },
      entered: "%{smart_count} neue Zeile |||| %{smart_count} neue Zeilen",
      left: "%{smart_count} Zeile ist weg |||| %{smart_count} Zeilen sind weg"
    },
    many: {
      label: "Viele auf einmal",
      select: "%{name} auswählen",
      change: "Ändern …",
      changeAll: "Alle gefundenen ändern …",
      deleteAll: "Alle gefundenen löschen …",
      changeTitle: "%{name} ändern",
      deleteTitle: "%{name} löschen",
      empty: "Entfernen, was da ist",
      preview: "Es geht um %{smart_count} %{name}.",
      changeCount: "%{smart_count} Dokument ändern |||| %{smart_count} Dokumente ändern",
      deleteCount: "%{smart_count} Dokument löschen |||| %{smart_count} Dokumente löschen",
      changed: "%{smart_count} Dokument geändert |||| %{smart_count} Dokumente geändert",
      deleted: "%{smart_count} Dokument gelöscht |||| %{smart_count} Dokumente gelöscht"
    },
    tabs: { document: "Dokument", related: "Verweise", history: "Verlauf", json: "JSON" },
    form: {
      saved: "Gespeichert",
      created: "Erstellt",
      problems: "Ein Feld stimmt noch nicht. |||| %{smart_count} Felder stimmen noch nicht.",
      discard: "Änderungen verwerfen",
      unsaved: "Nicht gespeichert",
      restored: "Das sind die Änderungen, die Sie nicht gespeichert hatten.",
      taken: "Ein Dokument mit dieser Kennung gibt es schon.",
      overwrite: "Es tritt an die Stelle des neuen Dokuments, das Sie nicht gespeichert haben.",
      readOnly: "Sie dürfen dieses Dokument ansehen, aber nicht ändern.",
      removePart: "%{name} entfernen",
      element: "%{name} %{number}",
      noJson: "Das ist kein gültiges JSON",
      maxSize: "höchstens %{size} MB",
      chooseFile: "Datei auswählen",
      chooseFiles: "Dateien hinzufügen"
    },
    conflict: {
      title: "Jemand anders hat dieses Dokument geändert",
      notice: "Jemand anders hat dieses Dokument geändert, seit Sie begonnen haben.",
      compare: "Vergleichen",
      apart: "Sie haben verschiedene Felder geändert. Nichts geht verloren, wenn Sie beides speichern.",
      same:
        "Ein Feld haben beide geändert: Wählen Sie, was bleibt. |||| %{smart_count} Felder haben beide geändert: Wählen Sie, was bleibt.",
      mine: "Ihres",
      theirs: "Das andere",
      none: "Beide sind gleich.",
      save: "Auswahl speichern"
    },
    actions: { run: "Ausführen", done: "Erledigt" },
    related: { all: "Alle", count: "Alle %{count}" },
    history: {
      earlier: "Frühere Änderungen",
      show: "Anzeigen",
      hide: "Verbergen",
      restore: "Diesen Stand wiederherstellen",
      restoreContent: "Die Felder dieses Stands werden neu geschrieben, als weitere Änderung.",
      restored: "Wiederhergestellt",
      nothing: "Nichts, was Sie sehen, hat sich geändert.",
      changes: {
        insert: "erstellt",
        replace: "ersetzt",
        patch: "geändert",
        update: "geändert",
        delete: "gelöscht",
        restore: "wiederhergestellt",
        purge: "entfernt",
        baseline: "vorher"
      }
    },
    deleted: {
      label: "Gelöschte",
      without: "nicht anzeigen",
      include: "mit den anderen",
      only: "nur diese",
      notice: "Dieses Dokument ist gelöscht.",
      restore: "Wiederherstellen",
      purge: "Endgültig entfernen",
      restored: "Wiederhergestellt",
      done: "Gelöscht",
      forGood: "Es ist dann endgültig weg.",
      canBeRestored: "Es kann später wiederhergestellt werden."
    },
    json: { copy: "Kopieren", copied: "Kopiert" }
  }
}
