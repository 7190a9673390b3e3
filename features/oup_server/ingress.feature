@v1alpha1 @websocket
Feature: The route of one session

  @OUP-INGRESS-001 @OUP-INGRESS-002 @OUP-INGRESS-005
  Scenario: Who is let in to a session
    Given a work secret for "local:lab-«unique»#build"
    Then each of these upgrades is answered so:
      | rule            | session                     | header                                                     | query                            | answer                                                 |
      | OUP-INGRESS-001 | local:lab-«unique»#build    | Authorization=Bearer «secret»                              |                                  | 101                                                    |
      | OUP-INGRESS-001 | %local:lab-«unique»#build   | Authorization=Bearer «secret»                              |                                  | 101                                                    |
      | OUP-INGRESS-001 | local:lab-«unique»          | Authorization=Bearer «secret»                              |                                  | refused                                                |
      | OUP-INGRESS-001 | local:other-«unique»#build  | Authorization=Bearer «secret»                              |                                  | refused                                                |
      | OUP-INGRESS-001 | local:lab-«unique»#build    | Authorization=Bearer wrong                                 |                                  | refused                                                |
      | OUP-INGRESS-002 | local:lab-«unique»#build    |                                                            | token=«secret»                   | 101                                                    |
      | OUP-INGRESS-002 | local:lab-«unique»#build    | Authorization=Bearer «secret»                              | token=wrong                      | 101                                                    |
      | OUP-INGRESS-002 | local:lab-«unique»#build    | Authorization=Bearer wrong                                 | token=«secret»                   | refused                                                |
      | OUP-INGRESS-002 | local:lab-«unique»#build    |                                                            | _token=«secret»                  | refused says Authorization or ?token or parameter token |
      | OUP-INGRESS-002 | local:lab-«unique»#build    |                                                            | session_ingress_token=«secret»   | refused says Authorization or ?token or parameter token |
      | OUP-INGRESS-005 | local:lab-«unique»#build    | Authorization=Bearer «secret»; Origin=https://evil.example |                                  | 403                                                    |

  @OUP-INGRESS-003
  Scenario: A later work secret of a session takes the place of the one before
    Given a work secret "first" for "local:lab-«unique»"
    And a work secret for "local:lab-«unique»"
    Then each of these upgrades is answered so:
      | rule            | session             | header                        | query | answer  |
      | OUP-INGRESS-003 | local:lab-«unique»  | Authorization=Bearer «first»  |       | refused |
      | OUP-INGRESS-003 | local:lab-«unique»  | Authorization=Bearer «secret» |       | 101     |
    And no file of the server has a work secret

  @OUP-INGRESS-003
  Scenario: A work secret ends by itself
    Given a work secret "short" for "local:lab-«unique»" that is good for 1 s
    Then the work secret "short" ends by itself

  @OUP-INGRESS-004
  Scenario: A connection ends with its work secret
    Given a work secret for "local:lab-«unique»"
    And a connection with the work secret
    When the client calls session/open with {"session_id":"local:lab-«unique»"}
    Then the answer is {"opened":{"session_id":"local:lab-«unique»"}}
    Given a work secret "next" for "local:lab-«unique»"
    When the client writes {"jsonrpc":"2.0","id":"«id»","method":"session/open","params":{"session_id":"local:lab-«unique»"}}
    Then the connection ends with code 1008

  @OUP-INGRESS-006 @OUP-INGRESS-010
  Scenario: A client with a work secret says hello, and is told what it may call
    Given a work secret for "local:lab-«unique»"
    And a connection with the work secret
    When the client calls client_hello with {"supported_features":["auxiliary.rest_to_ws.v1","approval.typed.v1"]}
    Then the answer is {"type":"server_hello","capabilities":{"supported_methods":["«some»","session/open"]}}
    When the client calls session/open with {"session_id":"local:lab-«unique»"}
    Then the answer is {"opened":{"session_id":"local:lab-«unique»"}}
    And only what a work secret may call is listed

  @OUP-INGRESS-007
  Scenario: What is not about one session is closed to a work secret
    Given a work secret for "local:lab-«unique»"
    And a connection with the work secret
    When the client calls session/open with {"session_id":"local:lab-«unique»"}
    Then each of these calls ends so:
      | rule            | call                     | params                                                                                                                         | ends                  |
      | OUP-INGRESS-007 | config/capabilities/list | {}                                                                                                                             | error invalid_request |
      | OUP-INGRESS-007 | session/list             | {}                                                                                                                             | error invalid_request |
      | OUP-INGRESS-007 | session/status/read      | {"session_id":"local:lab-«unique»"}                                                                                            | error invalid_request |
      | OUP-INGRESS-007 | session/compact          | {"session_id":"local:lab-«unique»"}                                                                                            | error invalid_request |
      | OUP-INGRESS-007 | snapshot/list            | {"session_id":"local:lab-«unique»"}                                                                                            | error invalid_request |
      | OUP-INGRESS-007 | turn/steer               | {"session_id":"local:lab-«unique»","input":[{"kind":"text","text":"Hello."}]}                                                  | error invalid_request |

  @OUP-INGRESS-008
  Scenario: A work secret is for one session
    Given a work secret for "local:lab-«unique»"
    And a connection with the work secret
    When the client calls session/open with {"session_id":"local:lab-«unique»"}
    Then each of these calls ends so:
      | rule            | call              | params                                                                                                               | ends                               |
      | OUP-INGRESS-008 | session/open      | {"session_id":"local:other-«unique»"}                                                                                | error invalid_request without data |
      | OUP-INGRESS-008 | session/hydrate   | {"session_id":"local:other-«unique»"}                                                                                | error invalid_request without data |
      | OUP-INGRESS-008 | session/delete    | {"session_id":"local:other-«unique»"}                                                                                | error invalid_request without data |
      | OUP-INGRESS-008 | turn/start        | {"session_id":"local:other-«unique»","turn_id":"«uuid»","input":[{"kind":"text","text":"Hello."}]}                   | error invalid_request without data |
      | OUP-INGRESS-008 | session/hydrate   | {"session_id":"local:lab-«unique»"}                                                                                  | result                             |

  @OUP-INGRESS-009
  Scenario: A topic counts where it is folded into the session
    Given a work secret for "local:lab-«unique»#build"
    And a connection with the work secret
    Then each of these calls ends so:
      | rule            | call              | params                                                                       | ends                                                             |
      | OUP-INGRESS-009 | session/open      | {"session_id":"local:lab-«unique»","topic":"build"}                          | result {"opened":{"session_id":"local:lab-«unique»#build"}}      |
      | OUP-INGRESS-009 | session/open      | {"session_id":"local:lab-«unique»#build","topic":"test"}                     | error invalid_request                                            |
      | OUP-INGRESS-009 | session/title.set | {"session_id":"local:lab-«unique»#build","title":"One"}                      | result                                                           |
      | OUP-INGRESS-009 | session/title.set | {"session_id":"local:lab-«unique»","topic":"build","title":"Two"}            | error invalid_request                                            |
      | OUP-INGRESS-009 | session/title.set | {"session_id":"local:lab-«unique»#build","topic":"test","title":"Three"}     | result                                                           |
