/**
 * A self-signed certificate for `localhost` and `127.0.0.1`, from 2020 to 2120, and its key. They secure nothing: servers of
 * tests on the loopback interface show them.
 */

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBejCCASCgAwIBAgIUB6N/hRZF0CwASiNYeuIZ69MuaGwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASIWF5n8QQG2Bcny/Qsyr8Y9PsmIRzHjZuPdxIxoXTwUlRSfzJeuqb+
idRavKMGfEM37y+ZaPG8E/+N73TTU1K9o04wTDAPBgNVHRMBAf8EBTADAQH/MBoG
A1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAdBgNVHQ4EFgQUk+Wyd2B3ZdwFXp0C
XkUyyHW0TEUwCgYIKoZIzj0EAwIDSAAwRQIgWZ/JNUnpi1n0KoRnDaxORebtsSfr
R0e8E2T9vP3zFCACIQCjMn4V5OBgymw6wXUchcLZDNGWbbl3Kuh4EPPsMin32A==
-----END CERTIFICATE-----
`

export const privateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgDtq1nqCiLSWxALmu
yVsatsc7ObYnMmYe3Tg3r/9xX8ihRANCAASIWF5n8QQG2Bcny/Qsyr8Y9PsmIRzH
jZuPdxIxoXTwUlRSfzJeuqb+idRavKMGfEM37y+ZaPG8E/+N73TTU1K9
-----END PRIVATE KEY-----
`
