@0.3
Feature: Session hooks
  An extension is told when a session begins and ends, and says in time what it thinks of that.

  @EXT03-HOOK-001 @EXT03-HOOK-002
  Scenario: A session begins and ends
    Given the extension selects hook/run
    And the extension is ready
    When the host asks for the session hooks
    Then no frame breaks a rule of this scenario

  @EXT03-HOOK-003
  Scenario Outline: A hook is answered while its host waits
    Given the extension selects hook/run
    And the extension is ready
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"hook/run","params":{"hook":<hook>,"payload":<payload>}}
    Then the extension answers in time with a result

    Examples:
      | hook            | payload                                                                                                                                                       |
      | "session_start" | {"binding":{"extension_instance_id":"i","process_generation":1,"session_id":"s"}}                                                                             |
      | "session_end"   | {"binding":{"extension_instance_id":"i","process_generation":1,"session_id":"s"},"duration_ms":5,"outcome":"interrupted","reason":"crash"} |
