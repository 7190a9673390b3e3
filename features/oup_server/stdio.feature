@v1alpha1 @stdio
Feature: Standard streams

  @OUP-STDIO-001 @OUP-STDIO-007
  Scenario: Nothing but frames stands on standard output
    Given a connection
    And a session
    Then no frame breaks a rule of this scenario

  @OUP-STDIO-002 @OUP-STDIO-005 @OUP-STDIO-006
  Scenario: Odd lines
    Given a connection
    Then each of these frames is met so:
      | rule          | frame                                                                                   | met               |
      | OUP-STDIO-002 | {"jsonrpc":"2.0","id":"«id»","method":"config/capabilities/list","params":{}}«hex 0D»   | answer result     |
      | OUP-STDIO-005 |                                                                                         | error parse_error |
      | OUP-STDIO-006 | {"jsonrpc":"2.0","id":"«id»","method":"«hex C3 28»","params":{}}                        | error parse_error |

  @OUP-STDIO-003
  Scenario: A last line without its end is carried out
    Given a connection
    When the input of the server ends with {"jsonrpc":"2.0","id":"last","method":"config/capabilities/list","params":{}}
    Then these come in order:
      | frame  | that is                            |
      | answer | {"capabilities":{"version":"«any»"}} |

  @OUP-STDIO-008
  Scenario: The end of the input ends the server and its turns
    Given a connection
    And a session
    When a turn starts that takes long
    Then the turn has said something
    When the input of the server ends
    Then the server ends by itself

  @OUP-STDIO-010
  Scenario: Without a hello the set of standard streams is in force
    Given a connection that names no feature
    Then the features of standard streams are in force

  @OUP-STDIO-011
  Scenario: Both transports answer alike
    Then both transports answer these calls alike:
      | call                  | params                                                                                           | then          |
      | session/open          | {"session_id":"«session»"}                                                                       |               |
      | turn/start            | {"session_id":"«session»","turn_id":"«turn»","input":[{"kind":"text","text":"«say»"}]}           | the turn ends |
      | session/title.set     | {"session_id":"«session»","title":" A title "}                                                   |               |
      | session/messages_page | {"session_id":"«session»"}                                                                       |               |
      | session/status.get    | {"session_id":"«session»"}                                                                       |               |
      | session/hydrate       | {"session_id":"«session»"}                                                                       |               |
      | turn/state/get        | {"session_id":"«session»","turn_id":"«turn»"}                                                    |               |
      | session/list          | {}                                                                                               |               |
      | session/rollback      | {"session_id":"«session»","num_turns":1}                                                         |               |
      | session/delete        | {"session_id":"«session»"}                                                                       |               |
      | session/delete        | {"session_id":"«session»"}                                                                       |               |

  @OUP-STDIO-012 @OUP-AUTH-001
  Scenario: Methods that need an identity are refused with a reason
    Given a connection
    Then each of these calls ends so:
      | rule          | call                     | params | ends                                                                                       |
      | OUP-STDIO-012 | memory/overview          | {}     | error permission_denied kind auth_unavailable                                              |
      | OUP-STDIO-012 | cron/list                | {}     | error permission_denied kind auth_unavailable                                              |
      | OUP-AUTH-001  | auth/me                  | {}     | error permission_denied kind auth_unavailable                                              |
      | OUP-STDIO-012 | config/capabilities/list | {}     | result {"capabilities":{"unsupported":["«some»",{"method":"memory/overview","reason":"«text»"}]}} |

  @OUP-STDIO-013 @OUP-STDIO-014
  Scenario: The profile follows from what was opened
    Given a connection
    And a session
    Then each of these calls ends so:
      | rule          | call                | params                                             | ends                           |
      | OUP-STDIO-013 | session/status/read | {"session_id":"«session»"}                         | result {"profile_id":"_main"}  |
      | OUP-STDIO-014 | session/open        | {"session_id":"other","profile_id":"nobody-at-all"} | error invalid_params           |
      | OUP-STDIO-014 | session/status/read | {"session_id":"«session»"}                         | result {"profile_id":"_main"}  |
